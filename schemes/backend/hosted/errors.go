package hosted

import (
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// The operations, as errors name them.
const (
	opBuild    = "hosted.build"
	opFinalize = "hosted.finalize"
	opCancel   = "hosted.cancel"
	opState    = "hosted.state"
	opCard     = "hosted.card"
	opField    = "hosted.field"
	opOrder    = "hosted.order"
	opCapture  = "hosted.capture"
	opRefund   = "hosted.refund"
	opUndo     = "hosted.undo"
)

func badParameter(op, path, why string) error {
	return &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter, Op: op, Msg: path + ": " + why}
}
