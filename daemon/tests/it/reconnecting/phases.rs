//! Connections that are lost while somebody is at it: a handler, a person who decides, a person who answers.

use super::{
    play::{Phase, play_held},
    proxy::Proxy,
    world::World,
};

#[tokio::test]
async fn dyn_19_whoever_is_at_it_goes_on_while_the_connection_is_lost() {
    for phase in Phase::ALL {
        let world = World::new(None).await;
        let proxy = Proxy::new(&world, []);
        let cutting = proxy.clone();
        play_held(proxy.connect(), phase, async move { cutting.cut() }, &format!("{phase:?}, cut")).await;
    }
}

#[tokio::test]
async fn dyn_19_whoever_is_at_it_goes_on_while_the_daemon_is_started_anew() {
    for phase in Phase::ALL {
        let world = World::new(None).await;
        let proxy = Proxy::new(&world, []);
        let restarting = async { world.restart().await };
        play_held(proxy.connect(), phase, restarting, &format!("{phase:?}, started anew")).await;
    }
}
