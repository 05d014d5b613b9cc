// The entrance of the package: for now the types and tables of the wire.
export * from "./generated/protocol.js";
