// Package leasetest has a fake [lease.Acquirer] and fake leases, for unit tests without
// a server.
//
//	var lock leasetest.Acquirer // a free mutex
//	shop := &Shop{Lock: &lock}
//
// The fake keeps the promises of [lease.Acquirer] and [lease.Lease]: one lease at a
// time, in the order of the calls; timeouts and their errors; contexts, their causes
// and re-entry ([lease.Fork], [lease.WithoutOwner]); tokens that grow; an error for
// what is used after its release. The same tests are run on it and on the recipes. A
// test can make happen what is rare otherwise: see [Acquirer.FailNext],
// [Acquirer.Lose], [Acquirer.RequestRevocation] and [Acquirer.FailConfirm].
//
// It starts no goroutines, and works in testing/synctest. For tests of what needs a
// server, such as [lease.Lease.Check] in a Multi, sessions and the network, see package
// zktest. There is no fake election or read-write lock: test the function given to Lead
// with a term from [NewLease].
package leasetest
