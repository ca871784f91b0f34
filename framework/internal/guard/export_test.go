package guard

// For tests that go through a whole client.
var (
	AnswerFrame, ConnectFrames, Text = answer, connectFrames, text
	Be32                             = be32
	WellFormed, Malformed            = wellFormed, malformed
)

// The numbers that those tests use.
const (
	CodeNoNode = codeNoNode
	XidEvent   = xidEvent
)
