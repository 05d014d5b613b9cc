//! From the function a person wrote to the function that makes the tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Type, spanned::Spanned};

use crate::options::Options;

pub(crate) fn tool(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = syn::parse2(function)?;
    let options = Options::parse(options)?;
    check(&function)?;
    let parameters = Parameters::of(&function)?;
    let description = description(&function)?;

    let krate = &options.krate;
    let name = options.name.map_or_else(
        || {
            let name = function.sig.ident.to_string();
            let name = name.trim_start_matches("r#");
            quote!(#name)
        },
        |name| quote!(#name),
    );
    let calls = &options.calls;
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let kept = function.attrs.iter();
    let mut inner = function.clone();
    inner.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    inner.vis = syn::Visibility::Inherited;
    let input = parameters.input(krate);
    let call = parameters.call(ident);
    // A fault in the types of the function is reported at its return type or arguments, not at the attribute.
    let handler = quote_spanned!(function.sig.output.span()=> .handler(|args, cx| #call));

    Ok(quote! {
        #(#kept)*
        #[must_use]
        #visibility fn #ident() -> #krate::Tool {
            #inner
            #krate::Tool::new(#name).description(#description) #(#calls)* .input::<#input>() #handler
        }
    })
}

fn check(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return Err(syn::Error::new(signature.fn_token.span, "a tool is an `async fn`"));
    }
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new(signature.generics.span(), "a tool takes no generic parameters"));
    }
    Ok(())
}

/// Which of the two parameters the function takes.
struct Parameters {
    arguments: Option<Type>,
    context: bool,
}

impl Parameters {
    fn of(function: &ItemFn) -> syn::Result<Self> {
        let mut found = Self { arguments: None, context: false };
        for parameter in &function.sig.inputs {
            let FnArg::Typed(parameter) = parameter else {
                return Err(syn::Error::new(parameter.span(), "a tool is a free function, without `self`"));
            };
            if is_context(&parameter.ty) && !found.context {
                found.context = true;
            } else if found.arguments.is_none() && !found.context {
                found.arguments = Some((*parameter.ty).clone());
            } else {
                return Err(syn::Error::new(
                    parameter.span(),
                    "a tool takes its arguments as one struct, then a `ToolContext`, and nothing more",
                ));
            }
        }
        Ok(found)
    }

    fn input(&self, krate: &syn::Path) -> TokenStream {
        self.arguments.as_ref().map_or_else(|| quote!(#krate::NoArguments), |arguments| quote!(#arguments))
    }

    fn call(&self, ident: &syn::Ident) -> TokenStream {
        match (self.arguments.is_some(), self.context) {
            (true, true) => quote!(#ident(args, cx)),
            (true, false) => quote!({
                drop(cx);
                #ident(args)
            }),
            (false, true) => quote!({
                let _ = args;
                #ident(cx)
            }),
            (false, false) => quote!({
                let _ = args;
                drop(cx);
                #ident()
            }),
        }
    }
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "ToolContext"))
}

/// The doc comment as text, its common leading space taken away.
fn description(function: &ItemFn) -> syn::Result<String> {
    let lines: Vec<String> = function.attrs.iter().filter_map(doc_line).collect();
    let text =
        lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    if text.is_empty() {
        let message = "a tool needs a doc comment: it is the description the model sees";
        return Err(syn::Error::new(function.sig.ident.span(), message));
    }
    Ok(text.to_owned())
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match (&pair.value, pair.path.is_ident("doc")) {
        (Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), true) => Some(text.value()),
        _ => None,
    }
}
