package framework

import "github.com/zkrecipes/zkrecipes/internal/jute"

// The records of requests and answers. The guard has checked the answers.

// record returns an encoder with space for a path and so many bytes.
func record(path string, more int) *jute.Encoder {
	e := jute.NewEncoder(4 + len(path) + more)
	e.String(path)
	return e
}

// pathRecord is the record of a request that has only a path.
func pathRecord(path string) []byte { return record(path, 0).Bytes() }

// readRecord is that of a read, which may leave a watch.
func readRecord(path string, watch bool) []byte {
	e := record(path, 1)
	e.Bool(watch)
	return e.Bytes()
}

// versionRecord is that of a delete, or of a check.
func versionRecord(path string, version int32) []byte {
	e := record(path, 4)
	e.Int32(version)
	return e.Bytes()
}

// dataRecord is that of a set.
func dataRecord(path string, data []byte, version int32) []byte {
	e := record(path, 8+len(data))
	e.Buffer(data)
	e.Int32(version)
	return e.Bytes()
}

// createRecord is that of a create. Flags are createFlags, or others with a time to
// live.
func createRecord(path string, data []byte, acl []ACL, flags int32) *jute.Encoder {
	e := record(path, 16+len(data)+64*len(acl))
	e.Buffer(data)
	encodeACL(e, acl)
	e.Int32(flags)
	return e
}

func encodeACL(e *jute.Encoder, acl []ACL) {
	e.Int32(int32(len(acl)))
	for _, a := range acl {
		e.Int32(a.Perms)
		e.String(a.Scheme)
		e.String(a.ID)
	}
}

func decodeACL(d *jute.Decoder) (acl []ACL) {
	for _, a := range d.ACLs() {
		acl = append(acl, ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID.ID})
	}
	return acl
}

// decodeNames returns an empty list for none, not nil.
func decodeNames(d *jute.Decoder) []string {
	names := d.Strings()
	if names == nil {
		names = []string{}
	}
	return names
}
