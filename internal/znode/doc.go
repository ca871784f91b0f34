// Package znode has the names of the recipes' nodes, and the data that requests
// revocation: byte for byte those of Apache Curator.
package znode
