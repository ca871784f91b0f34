package znode

import "net/netip"

// IsUnset reports whether the data of a path store nothing, so that a size may be
// written there. An address alone belongs to no program: Curator writes it into each
// node that is created without data.
func IsUnset(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	_, err := netip.ParseAddr(string(data))
	return err == nil
}
