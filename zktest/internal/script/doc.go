// Package script compares zktest with a real ZooKeeper server. It runs lists of
// requests against a server, and writes the answers in a form that does not depend on
// the server, the time or earlier requests. So the answers of two servers can be
// compared.
//
// Requests are sent as raw frames, without a client library.
package script
