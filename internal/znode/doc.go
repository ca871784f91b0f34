// Package znode is what the recipes' nodes are called, and what is written into them to
// ask their holders to give way: byte for byte as Apache Curator has it.
package znode
