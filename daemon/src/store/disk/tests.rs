//! What only a store on disk can meet: torn files, noise, missing files, modes, descriptors.

mod faults;
mod index;
mod logs;
