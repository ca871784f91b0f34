package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// writeBody writes the body of a successful reply.
func (r *runner) writeBody(b *strings.Builder, op zktest.Op, d *jute.Decoder) {
	switch op {
	case zktest.OpCreate, zktest.OpSync:
		fmt.Fprintf(b, " %s", r.local(d.String()))
	case zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpCreateTTL:
		fmt.Fprintf(b, " %s", r.local(d.String()))
		r.writeStat(b, d.Stat())
	case zktest.OpExists, zktest.OpSetData, zktest.OpSetACL:
		r.writeStat(b, d.Stat())
	case zktest.OpGetData:
		r.writeData(b, d.Buffer())
		r.writeStat(b, d.Stat())
	case zktest.OpGetChildren, zktest.OpGetEphemerals:
		r.writeNames(b, d.Strings())
	case zktest.OpGetChildren2:
		r.writeNames(b, d.Strings())
		r.writeStat(b, d.Stat())
	case zktest.OpGetACL:
		fmt.Fprintf(b, " %v", d.ACLs())
		r.writeStat(b, d.Stat())
	case zktest.OpGetAllChildrenNumber:
		fmt.Fprintf(b, " %d", d.Int32())
	case zktest.OpMulti, zktest.OpMultiRead:
		r.writeMulti(b, d)
	case zktest.OpAddWatch:
		fmt.Fprintf(b, " %d", d.Int32())
	case zktest.OpWhoAmI:
		r.writeIdentities(b, d)
	}
	if d.Err() != nil {
		fmt.Fprintf(b, " BAD BODY %v", d.Err())
	}
	if d.Len() > 0 {
		fmt.Fprintf(b, " and %d bytes more", d.Len())
	}
}

// writeData writes data; null and empty differ.
func (r *runner) writeData(b *strings.Builder, data []byte) {
	switch {
	case data == nil:
		b.WriteString(" null")
	case len(data) > 40:
		fmt.Fprintf(b, " data[%d]", len(data))
	default:
		fmt.Fprintf(b, " %q", data)
	}
}

func (r *runner) writeIdentities(b *strings.Builder, d *jute.Decoder) {
	var ids []string
	for range d.Int32() {
		ids = append(ids, d.String()+":"+d.String())
		if d.Err() != nil {
			return
		}
	}
	slices.Sort(ids)
	fmt.Fprintf(b, " %q", ids)
}

func (r *runner) writeMulti(b *strings.Builder, d *jute.Decoder) {
	for {
		h := d.MultiHeader()
		if d.Err() != nil || h.Done {
			return
		}
		fmt.Fprintf(b, " [%d/%d", h.Type, h.Err)
		switch zktest.Op(h.Type) {
		case -1:
			fmt.Fprintf(b, " %d", d.Int32())
		case zktest.OpCreate:
			fmt.Fprintf(b, " %s", r.local(d.String()))
		case zktest.OpCreate2:
			fmt.Fprintf(b, " %s", r.local(d.String()))
			r.writeStat(b, d.Stat())
		case zktest.OpSetData:
			r.writeStat(b, d.Stat())
		case zktest.OpGetData:
			r.writeData(b, d.Buffer())
			r.writeStat(b, d.Stat())
		case zktest.OpGetChildren:
			r.writeNames(b, d.Strings())
		}
		b.WriteString("]")
	}
}
