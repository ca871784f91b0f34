package jute

// Stat describes a node. Times are in milliseconds since 1970, zxids are transaction
// numbers.
type Stat struct {
	Czxid          int64 // transaction that created the node
	Mzxid          int64 // transaction that last set its data
	Ctime          int64 // when it was created
	Mtime          int64 // when its data was last set
	Version        int32 // how often the data was set
	Cversion       int32 // how often a child was created or deleted
	Aversion       int32 // how often the ACL was set
	EphemeralOwner int64 // session of an ephemeral node, else 0
	DataLength     int32 // bytes of data
	NumChildren    int32 // the present number of children
	Pzxid          int64 // transaction that last created or deleted a child
}

// ID is an identity: a scheme such as "digest" and a name within the scheme.
type ID struct {
	Scheme string // "world", "auth", "digest" or "ip"
	ID     string // the name within the scheme
}

// ACL grants permissions to an identity.
type ACL struct {
	Perms int32 // bits: 1 read, 2 write, 4 create, 8 delete, 16 admin
	ID
}

// Stat appends a Stat.
func (e *Encoder) Stat(s *Stat) {
	e.Int64(s.Czxid)
	e.Int64(s.Mzxid)
	e.Int64(s.Ctime)
	e.Int64(s.Mtime)
	e.Int32(s.Version)
	e.Int32(s.Cversion)
	e.Int32(s.Aversion)
	e.Int64(s.EphemeralOwner)
	e.Int32(s.DataLength)
	e.Int32(s.NumChildren)
	e.Int64(s.Pzxid)
}

// Stat reads a Stat.
func (d *Decoder) Stat() Stat {
	return Stat{
		Czxid: d.Int64(), Mzxid: d.Int64(), Ctime: d.Int64(), Mtime: d.Int64(),
		Version: d.Int32(), Cversion: d.Int32(), Aversion: d.Int32(), EphemeralOwner: d.Int64(),
		DataLength: d.Int32(), NumChildren: d.Int32(), Pzxid: d.Int64(),
	}
}

// ACLs appends a vector of ACL.
func (e *Encoder) ACLs(v []ACL) {
	e.Int32(int32(len(v)))
	for _, a := range v {
		e.Int32(a.Perms)
		e.String(a.Scheme)
		e.String(a.ID.ID)
	}
}

// ACLs reads a vector of ACL.
func (d *Decoder) ACLs() []ACL {
	n := d.count(12)
	if n == 0 {
		return nil
	}
	v := make([]ACL, 0, min(n, 64))
	for range n {
		v = append(v, ACL{Perms: d.Int32(), ID: ID{Scheme: d.String(), ID: d.String()}})
		if d.err != nil {
			return nil
		}
	}
	return v
}

// ConnectRequest is the first frame of a connection.
type ConnectRequest struct {
	ProtocolVersion int32  // always 0
	LastZxidSeen    int64  // newest transaction that the client knows of
	TimeOut         int32  // milliseconds
	SessionID       int64  // 0 for a new session
	Password        []byte // of the session, 16 bytes
	HasReadOnly     bool   // false if the byte below is absent, as from clients before 3.4 and some later ones
	ReadOnly        bool   // the client would accept a read-only server
}

// ConnectRequest reads a ConnectRequest.
func (d *Decoder) ConnectRequest() ConnectRequest {
	r := ConnectRequest{
		ProtocolVersion: d.Int32(), LastZxidSeen: d.Int64(), TimeOut: d.Int32(), SessionID: d.Int64(), Password: d.Buffer(),
	}
	if d.err == nil && len(d.rest) > 0 {
		r.HasReadOnly, r.ReadOnly = true, d.Bool()
	}
	return r
}

// ConnectRequest appends a ConnectRequest.
func (e *Encoder) ConnectRequest(r ConnectRequest) {
	e.Int32(r.ProtocolVersion)
	e.Int64(r.LastZxidSeen)
	e.Int32(r.TimeOut)
	e.Int64(r.SessionID)
	e.Buffer(r.Password)
	if r.HasReadOnly {
		e.Bool(r.ReadOnly)
	}
}

// MultiHeader precedes each part of a multi, and with Done set it follows the last
// part.
type MultiHeader struct {
	Type int32 // kind of the part; -1 for an error
	Done bool  // there are no more parts
	Err  int32 // the part's result, in a reply
}

// MultiHeader appends a MultiHeader.
func (e *Encoder) MultiHeader(h MultiHeader) {
	e.Int32(h.Type)
	e.Bool(h.Done)
	e.Int32(h.Err)
}

// MultiHeader reads a MultiHeader.
func (d *Decoder) MultiHeader() MultiHeader {
	return MultiHeader{Type: d.Int32(), Done: d.Bool(), Err: d.Int32()}
}
