// Package monitoring tests the files in the folder monitoring of the main module: the
// alert rules, their unit tests, and the dashboard. They are read by Debian's
// Prometheus, which scrapes a program with contrib/prometheus and "zkrecipes exporter",
// and alerts when a lease is lost.
//
// There are tests only for Linux. They need the commands prometheus and promtool, which
// .ci/install-prometheus installs, and fail without them.
package monitoring
