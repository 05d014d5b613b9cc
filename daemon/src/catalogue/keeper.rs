//! The home's secrets as the catalogue asks for them: off the runtime's threads, because they may wait for the disk.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use ropewalk_protocol::SecretStore;

use super::SecretKeeper;
use crate::secrets::{SecretError, Secrets};

impl SecretKeeper for Arc<dyn Secrets> {
    fn get(&self, name: &str) -> BoxFuture<'static, Result<Option<String>, String>> {
        let name = name.to_owned();
        off_the_runtime(self, move |secrets| secrets.get(&name))
    }

    fn set(&self, name: &str, value: &str) -> BoxFuture<'static, Result<(), String>> {
        let (name, value) = (name.to_owned(), value.to_owned());
        off_the_runtime(self, move |secrets| secrets.set(&name, &value))
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), String>> {
        let name = name.to_owned();
        off_the_runtime(self, move |secrets| secrets.remove(&name).map(drop))
    }

    fn kind(&self) -> SecretStore {
        (**self).kind()
    }

    fn reason(&self) -> Option<String> {
        (**self).reason()
    }

    fn out_of_reach(&self) -> Vec<String> {
        (**self).out_of_reach()
    }
}

fn off_the_runtime<T: Send + 'static>(
    secrets: &Arc<dyn Secrets>,
    work: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    let secrets = Arc::clone(secrets);
    let done = tokio::task::spawn_blocking(move || work(&*secrets));
    async move {
        match done.await {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("the thread that kept it broke down".to_owned()),
        }
    }
    .boxed()
}
