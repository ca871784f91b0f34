// Package script runs lists of requests against a ZooKeeper server and writes down the
// answers in a form that is the same for every server that behaves the same: which
// server it was, what time it was and what had happened on it before do not show. The
// same script can thus be run against zktest and a real server and the answers be
// compared.
//
// Requests are sent as raw frames, so that nothing a client library does or cannot do
// stands between.
package script
