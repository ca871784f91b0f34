package guard

// For tests that go through a whole client.
var (
	AnswerFrame, ConnectFrames, Text = answer, connectFrames, text
	Be32                             = be32
	WellFormed, Malformed            = wellFormed, malformed
)

// The numbers that those tests use.
const (
	CodeNoNode     = codeNoNode
	OpClose        = opClose
	OpContainer    = opContainer
	OpCreate       = opCreate
	OpCreateTTL    = opCreateTTL
	OpDelete       = opDelete
	OpExists       = opExists
	OpGetACL       = opGetACL
	OpGetChildren2 = opGetChildren2
	OpGetData      = opGetData
	OpMulti        = opMulti
	OpPing         = opPing
	OpSetACL       = opSetACL
	OpSetData      = opSetData
	OpSync         = opSync
	XidEvent       = xidEvent
)
