package zktest

import "strconv"

// Op is the kind of a request, with ZooKeeper's numbers.
type Op int32

// The requests that the server knows. OpConnect is the first frame of a connection; it
// has no number in the protocol, so it has that of its transaction here. Clients
// differ: go-zookeeper, and so package framework, creates with OpCreate (containers
// with OpCreateContainer), lists with OpGetChildren2 and sets watches again with
// OpSetWatches; new Java clients create with OpCreate2.
const (
	OpCreate               Op = 1
	OpDelete               Op = 2
	OpExists               Op = 3
	OpGetData              Op = 4
	OpSetData              Op = 5
	OpGetACL               Op = 6
	OpSetACL               Op = 7
	OpGetChildren          Op = 8
	OpSync                 Op = 9
	OpPing                 Op = 11
	OpGetChildren2         Op = 12
	OpCheck                Op = 13
	OpMulti                Op = 14
	OpCreate2              Op = 15
	OpReconfig             Op = 16
	OpCheckWatches         Op = 17
	OpRemoveWatches        Op = 18
	OpCreateContainer      Op = 19
	OpDeleteContainer      Op = 20
	OpCreateTTL            Op = 21
	OpMultiRead            Op = 22
	OpAuth                 Op = 100
	OpSetWatches           Op = 101
	OpGetEphemerals        Op = 103
	OpGetAllChildrenNumber Op = 104
	OpSetWatches2          Op = 105
	OpAddWatch             Op = 106
	OpWhoAmI               Op = 107
	OpConnect              Op = -10
	OpClose                Op = -11

	// AnyOp makes a [Rule] apply to requests of every kind.
	AnyOp Op = -1000

	opError Op = -1
)

// opNames are the names in ZooKeeper's sources.
var opNames = map[Op]string{
	OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi", OpCreate2: "create2", OpReconfig: "reconfig",
	OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpDeleteContainer: "deleteContainer", OpCreateTTL: "createTTL", OpMultiRead: "multiRead", OpAuth: "auth",
	OpSetWatches: "setWatches", OpGetEphemerals: "getEphemerals", OpGetAllChildrenNumber: "getAllChildrenNumber",
	OpSetWatches2: "setWatches2", OpAddWatch: "addWatch", OpWhoAmI: "whoAmI", OpConnect: "connect", OpClose: "close",
	AnyOp: "any", opError: "error",
}

// String returns ZooKeeper's name of the request.
func (o Op) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return "op" + strconv.Itoa(int(o))
}

// Code is the result of a request, with ZooKeeper's numbers. Every Code except OK is an
// error.
type Code int32

// The results that the server returns, or that [Fail] can make it return.
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2
	ConnectionLoss          Code = -4
	MarshallingError        Code = -5
	Unimplemented           Code = -6
	OperationTimeout        Code = -7
	BadArguments            Code = -8
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	InvalidACL              Code = -114
	AuthFailed              Code = -115
	SessionMoved            Code = -118
	NoWatcher               Code = -121
	ReconfigDisabled        Code = -123
	QuotaExceeded           Code = -125
	ThrottledOp             Code = -127
)

var codeNames = map[Code]string{
	OK: "ok", RuntimeInconsistency: "runtime inconsistency", ConnectionLoss: "connection loss",
	MarshallingError: "marshalling error", Unimplemented: "unimplemented", OperationTimeout: "operation timeout",
	BadArguments: "bad arguments", NoNode: "no node", NoAuth: "no auth", BadVersion: "bad version",
	NoChildrenForEphemerals: "no children for ephemerals", NodeExists: "node exists", NotEmpty: "not empty",
	SessionExpired: "session expired", InvalidACL: "invalid ACL", AuthFailed: "auth failed",
	SessionMoved: "session moved", NoWatcher: "no watcher", ReconfigDisabled: "reconfig disabled", QuotaExceeded: "quota exceeded",
	ThrottledOp: "throttled operation",
}

// String names the result.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "code " + strconv.Itoa(int(c))
}

// Error makes a Code an error, with the text of [Code.String].
func (c Code) Error() string { return c.String() }
