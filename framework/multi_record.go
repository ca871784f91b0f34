package framework

import (
	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// multiRecord is the record of a Multi.
func multiRecord(ops []Op) []byte {
	size := 16
	for _, op := range ops {
		size += 64 + len(op.path) + len(op.data) + 64*len(op.create.acl)
	}
	e := jute.NewEncoder(size)
	for _, op := range ops {
		code, record := op.record()
		e.MultiHeader(jute.MultiHeader{Type: code, Err: -1})
		e.Raw(record)
	}
	e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	return e.Bytes()
}

// record returns the code and the record of one operation.
func (op *Op) record() (code int32, record []byte) {
	switch op.kind {
	case opMakes:
		return createRequest(op.path, op.data, op.mode, op.create)
	case opSets:
		return guard.OpSetData, dataRecord(op.path, op.data, op.version)
	case opRemoves:
		return guard.OpDelete, versionRecord(op.path, op.version)
	default:
		return guard.OpCheck, versionRecord(op.path, op.version)
	}
}

// multiFailed is the type of a result where an operation failed, this one or another.
const multiFailed = -1

// decodeMulti reads the results of a Multi of n operations. The error is that of the
// one that failed.
func decodeMulti(d *jute.Decoder, n int) (results []opReply, err error) {
	for h := d.MultiHeader(); !h.Done && d.Err() == nil; h = d.MultiHeader() {
		var r opReply
		switch h.Type {
		case guard.OpCreate:
			r.path = d.String()
		case guard.OpSetData:
			r.stat = decodeStat(d)
		case multiFailed:
			r.code = d.Int32()
		}
		if r.code != 0 && err == nil {
			_, err = outcomeOf(guard.Answer{Code: r.code})
		}
		results = append(results, r)
	}
	if len(results) != n {
		return nil, errMalformedAnswer
	}
	return results, err
}
