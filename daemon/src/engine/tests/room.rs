//! How much may wait on a branch.

use ropewalk_protocol::{ErrorDetail, SubmitState, Unattended};

use super::{
    client::Person,
    life::{Life, begin, request, soon, submit},
};

#[tokio::test]
async fn what_waits_on_a_branch_fits_in_one_line_together() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    begin(&thread, "go").await;
    let _asked = life.asked().await;
    let large = "x".repeat(7 << 20);
    for _ in 0..2 {
        assert_eq!(submit(&thread, &large).await.state, SubmitState::Queued);
    }
    let refused = soon(thread.submit(request(&thread, &large, Unattended::Decline))).await.unwrap_err();
    let ErrorDetail::Overloaded { limit, what } = refused.data.detail else { panic!("{refused:?}") };
    assert_eq!((limit, what.as_str(), refused.data.retryable), (16_744_448, "queueBytes", true));
    assert_eq!(submit(&thread, "small").await.state, SubmitState::Queued);
}
