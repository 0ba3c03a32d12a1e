package apdu

// Name is the command's name for people, e.g. "authorisation"; "unknown" if the table does not have it.
func (c Command) Name() string {
	if l, ok := layoutOf(c); ok {
		return l.name
	}
	return "unknown"
}

// ResultName is what a result or error code says, "" for one without a name. 00..63 are the host's.
func ResultName(code byte) string {
	if name, ok := resultNames[code]; ok {
		return name
	}
	if code <= 0x63 {
		return "refused by host"
	}
	return ""
}

var resultNames = map[byte]string{
	0x00: "ok",
	0x37: "wrong password",
	0x64: "card not readable",
	0x66: "processing error",
	0x6A: "turnover file full",
	0x6B: "not registered",
	0x6C: "aborted",
	0x6F: "wrong currency",
	0x77: "end of day not possible",
	0x7D: "no communication module",
	0x83: "function not possible",
	0x9A: "protocol error",
	0x9B: "communication fault",
	0x9C: "please wait",
	0x9D: "partial issue of goods",
	0xA0: "receiver not ready",
	0xA1: "remote does not answer",
	0xA3: "no connection",
	0xB1: "memory full",
	0xB2: "journal full",
	0xB4: "already reversed",
	0xB5: "reversal not possible",
	0xB7: "amount wrong",
	0xC2: "diagnosis required",
	0xC3: "maximum exceeded",
	0xC5: "payment method not supported",
	0xC6: "currency not supported",
	0xC8: "amount too small",
	0xCC: "printer not ready",
	0xDC: "card inserted",
	0xDF: "out of order",
	0xF0: "reconciliation required",
	0xFF: "system error",
}

// StatusName is what an intermediate status says, "" for one without a name.
func StatusName(status byte) string { return statusNames[status] }

var statusNames = map[byte]string{
	0x00: "waiting for amount confirmation",
	0x01: "see the display",
	0x02: "see the display",
	0x04: "waiting for the host",
	0x05: "sending automatic reversal",
	0x0A: "insert card",
	0x0E: "please wait",
	0x12: "system error",
	0x13: "payment not possible",
	0x17: "please wait",
	0x1C: "approved",
	0x1D: "declined",
	0xC8: "waiting for the cashier",
	0xF1: "offline",
	0xF2: "online",
	0xFF: "see text",
}

// CardTypeName names the wallets' card types, "" for any other.
func CardTypeName(n int) string { return cardTypes[n] }

var cardTypes = map[int]string{
	0x61: "Alipay", 0x6B: "Alipay (point of sale, model 2)", 0x6F: "Instant Payment", 0x77: "PayPal", 0x78: "Klarna",
	0x7D: "TWINT", 0x7E: "Payconiq", 260: "Bluecode", 261: "WeChat Pay", 280: "QRpay",
}

// tagContent is how a data object is shown.
type tagSpec struct {
	name    string
	content Content
}

var tags = map[uint32]tagSpec{
	0x07: {"text-line", Chars}, 0x08: {"receipt", Digits}, 0x09: {"attribute", Binary}, 0x0A: {"command", Binary},
	0x10: {"display-columns", Digits}, 0x11: {"display-lines", Digits}, 0x12: {"printer-columns", Digits},
	0x13: {"extra-result", Binary}, 0x14: {"charset", Binary}, 0x15: {"language", Chars}, 0x1A: {"max-apdu", Binary},
	0x1B: {"diagnosis-type", Binary}, 0x24: {"display-texts", 0}, 0x25: {"print-texts", 0}, 0x26: {"commands", 0},
	0x27: {"charsets", 0}, 0x28: {"languages", 0}, 0x2D: {"track-data", Secret}, 0x2E: {"time", 0}, 0x2F: {"payment-type", 0},
	0x30: {"card-list", 0}, 0x31: {"amounts", 0}, 0x34: {"date-and-time", 0}, 0x40: {"emv-configuration", Binary},
	0x41: {"card-type", Binary}, 0x42: {"application-name", Chars}, 0x43: {"application-id", Binary},
	0x44: {"application-preferred-name", Chars}, 0x45: {"receipt-parameter", Binary}, 0x46: {"emv-print-customer", Chars},
	0x47: {"emv-print-merchant", Chars}, 0x48: {"emv-data", Binary}, 0x49: {"currency", Digits}, 0x5A: {"card-number", Secret},
	0x57: {"track-2", Secret}, 0x60: {"application", 0}, 0x64: {"receipt-head", 0}, 0x65: {"receipt-text", 0},
	0x66: {"receipt-lines", 0}, 0x67: {"receipt-foot", 0}, 0xE3: {"barcode", 0}, 0xE4: {"device", 0}, 0xE8: {"coupons", 0},
	0xE9: {"booking", 0}, 0x1F04: {"receipt-parameter", Binary}, 0x1F05: {"transaction-parameter", Binary},
	0x1F07: {"receipt-type", Binary}, 0x1F0D: {"transparent-data", Chars}, 0x1F0E: {"date", Digits}, 0x1F0F: {"time", Digits},
	0x1F10: {"cardholder-verification", Binary}, 0x1F11: {"online", Binary}, 0x1F12: {"card-technology", Binary},
	0x1F16: {"extended-error", Binary}, 0x1F17: {"extended-error-text", Chars}, 0x1F1F: {"last-receipt", Digits},
	0x1F2B: {"long-trace", Digits}, 0x1F2D: {"input-type", Binary}, 0x1F2E: {"barcode-type", Binary},
	0x1F2F: {"barcode-data", Chars}, 0x1F35: {"register-id", Binary}, 0x1F37: {"receipt-info", Binary},
	0x1F40: {"device-name", Chars}, 0x1F41: {"software-version", Chars}, 0x1F42: {"serial-number", Binary},
	0x1F43: {"device-state", Binary}, 0x1F44: {"terminal-id", Digits}, 0x1F71: {"recognised-tags", Binary},
	0x1F73: {"sequence", Digits}, 0x1F8006: {"trade-id", Chars}, 0x1F800F: {"card-schema", Binary},
	0x1F8010: {"refund-reference", Chars},
}
