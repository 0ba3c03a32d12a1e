package drive

import (
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/device/qr"
)

// Code returns the code of a sale. It fails where the payload is none that may be shown.
func Code(row *journal.Row) (*qr.Code, error) { return perform.Code(row) }
