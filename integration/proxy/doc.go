// Package proxy forwards connections of ZooKeeper clients to a server, for tests: it
// closes, refuses, stalls and delays connections, and breaks one at a chosen request.
//
//	p := proxy.New(t, server)
//	fired := p.CutAfter(proxy.OpCreate, "/locks/")
//	// a client of p.Addr() creates /locks/a: the server has done it, the client never learns
//	<-fired
//
// The proxy reads the frames of the protocol as they pass; it changes none of them.
// Anything else, such as TLS or a four-letter word, passes through, and no cut applies
// to it.
//
// # Goroutines
//
// One accepts connections, from New or Refuse(false) to Refuse(true) or Close. Each
// connection has one that dials the server and then waits for its four: one that reads
// and one that writes for either direction. They end when either side closes, and with
// Cut and Close. Close waits for all of them.
package proxy
