//! Waiting for what was shown, and not for ever.

use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_question_comes_after_its_call_or_after_a_second() {
    let seen = Seen::default();
    let began = Instant::now();
    seen.mark(&"call-1".into());
    seen.call(&"call-1".into()).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    seen.call(&"call-2".into()).await;
    assert_eq!(began.elapsed(), PATIENCE);
}
