//! What only a store on disk can meet: torn files, noise, missing files, modes, descriptors.

mod backup;
mod blobs;
mod check;
mod damage;
mod faults;
mod index;
mod logs;
mod migration;
mod removal;
mod restore;
mod rewrite;
mod space;
mod walking;
