//! What stands in the brackets of `#[tool(…)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitBool, LitInt, LitStr, Path, Token, meta::ParseNestedMeta, parse::Parser};

/// The options of one tool; absent ones leave the declaration as it is.
pub(crate) struct Options {
    /// The path of the SDK.
    pub(crate) krate: Path,
    /// The name, where it is not the function's.
    pub(crate) name: Option<LitStr>,
    /// One builder call an option.
    pub(crate) calls: Vec<TokenStream>,
}

const KNOWN: &str = "name, namespace, namespace_description, title, approval, timeout_ms, read_only, destructive, \
                     idempotent, open_world, crate";

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut options = Self { krate: syn::parse_quote!(::ropewalk), name: None, calls: Vec::new() };
        // The path of the SDK is needed for `approval`, wherever it stands.
        let mut approval = None;
        syn::meta::parser(|meta| options.take(&meta, &mut approval)).parse2(tokens)?;
        if let Some(wish) = approval {
            let krate = &options.krate;
            options.calls.push(quote!(.approval(#krate::protocol::ApprovalWish::#wish)));
        }
        Ok(options)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>, approval: &mut Option<TokenStream>) -> syn::Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "crate" => self.krate = meta.value()?.parse()?,
            "name" => self.name = Some(meta.value()?.parse()?),
            "namespace" | "namespace_description" | "title" => {
                let (method, text) = (&meta.path, meta.value()?.parse::<LitStr>()?);
                self.calls.push(quote!(.#method(#text)));
            }
            "timeout_ms" => {
                let number = meta.value()?.parse::<LitInt>()?;
                self.calls.push(quote!(.timeout_ms(#number)));
            }
            "read_only" | "destructive" | "idempotent" | "open_world" => {
                let flag = flag(meta)?;
                let method = &meta.path;
                self.calls.push(quote!(.#method(#flag)));
            }
            "approval" => *approval = Some(wish(&meta.value()?.parse()?)?),
            _ => return Err(meta.error(format!("this is no option of a tool; the options are: {KNOWN}"))),
        }
        Ok(())
    }
}

fn flag(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.input.peek(Token![=]) { Ok(meta.value()?.parse::<LitBool>()?.value) } else { Ok(true) }
}

fn wish(text: &LitStr) -> syn::Result<TokenStream> {
    match text.value().as_str() {
        "ask" => Ok(quote!(Ask)),
        "allow" => Ok(quote!(Allow)),
        _ => Err(syn::Error::new(text.span(), "approval is \"ask\" or \"allow\"")),
    }
}
