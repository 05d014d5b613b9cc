//! What the macro refuses, and how it says so. What it accepts is tested where the SDK can be used.

use quote::quote;

use crate::expand;

fn refusal(options: proc_macro2::TokenStream, function: proc_macro2::TokenStream) -> String {
    match expand::tool(options, function) {
        Ok(expanded) => panic!("it was accepted: {expanded}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_function_without_a_doc_comment_is_refused_because_the_model_would_know_nothing() {
    let reason = refusal(
        quote!(),
        quote!(
            async fn f() {}
        ),
    );
    assert!(reason.contains("doc comment"), "{reason}");
}

#[test]
fn only_free_async_functions_without_generics_are_tools() {
    let plain = refusal(
        quote!(),
        quote!(
            #[doc = "d"]
            fn f() {}
        ),
    );
    assert!(plain.contains("async fn"), "{plain}");
    let method = refusal(
        quote!(),
        quote!(
            #[doc = "d"]
            async fn f(&self) {}
        ),
    );
    assert!(method.contains("self"), "{method}");
    let generic = refusal(
        quote!(),
        quote!(
            #[doc = "d"]
            async fn f<T>(args: T) {}
        ),
    );
    assert!(generic.contains("generic"), "{generic}");
}

#[test]
fn more_than_arguments_and_context_is_refused() {
    for function in [
        quote!(
            #[doc = "d"]
            async fn f(a: A, b: B) {}
        ),
        quote!(
            #[doc = "d"]
            async fn f(cx: ToolContext, a: A) {}
        ),
        quote!(
            #[doc = "d"]
            async fn f(a: A, cx: ToolContext, more: ToolContext) {}
        ),
    ] {
        let reason = refusal(quote!(), function);
        assert!(reason.contains("nothing more"), "{reason}");
    }
}

#[test]
fn an_unknown_option_is_answered_with_the_known_ones() {
    let reason = refusal(
        quote!(readonly),
        quote!(
            #[doc = "d"]
            async fn f() {}
        ),
    );
    assert!(reason.contains("read_only") && reason.contains("timeout_ms"), "{reason}");
    let reason = refusal(
        quote!(approval = "never"),
        quote!(
            #[doc = "d"]
            async fn f() {}
        ),
    );
    assert!(reason.contains("\"ask\""), "{reason}");
}
