// Package jute reads and writes the records of ZooKeeper's client protocol.
//
// Jute is ZooKeeper's serialization: big-endian integers, one byte for a boolean, and a
// 32-bit length before every string, buffer and vector, where -1 stands for null. A
// record is just its fields one after the other, so a reader must know what to expect.
//
// The input of a server is not trusted. So a [Decoder] never panics, and never
// allocates memory only because of a length in the input. After the first fault it
// returns zero values, so code that reads a record needs to check [Decoder.Err] only at
// the end.
//
// No value of this package is safe for concurrent use.
package jute
