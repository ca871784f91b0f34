// Package jute reads and writes the records of ZooKeeper's client protocol.
//
// Jute is the serialization ZooKeeper uses on the wire: big-endian integers, one byte
// for a boolean, and a 32-bit length in front of every string, buffer and vector, where
// -1 stands for null. Records are their fields one after another with nothing between
// them, so a reader must know what it expects.
//
// The package serves a server, which reads what strangers send. Hence two rules: a
// [Decoder] never panics and never allocates by a length it was merely told, and after
// the first fault it returns zero values until [Decoder.Err] is looked at, so that code
// which reads a record needs one check at its end.
//
// Nothing in the package is safe for concurrent use of one value; values are
// short-lived and belong to one goroutine.
package jute
