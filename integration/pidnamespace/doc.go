// Package pidnamespace holds tests of the command zkrecipes as the first process of a
// container, and of its flag --pid-namespace. They make PID and mount namespaces, which
// needs Linux and root; without them they fail, and are never skipped. The server is
// zktest.
package pidnamespace
