package apdu

// New builds a message without positional bytes.
func New(cmd Command, fields ...Field) Message { return Message{Cmd: cmd, Fields: fields} }

// NewPrefixed builds a message with positional bytes.
func NewPrefixed(cmd Command, prefix []byte, fields ...Field) Message {
	return Message{Cmd: cmd, Prefix: prefix, Fields: fields}
}

// OK is the positive reply 80 00.
func OK(fields ...Field) Message { return New(Ack, fields...) }

// Refuse is the negative reply 84 code.
func Refuse(code byte, fields ...Field) Message { return New(0x8400|Command(code), fields...) }

// Bytes builds a field from its value.
func Bytes(bmp byte, value ...byte) Field {
	if value == nil {
		value = []byte{}
	}
	return Field{BMP: bmp, Value: value}
}

// Number builds a fixed decimal field. A number that does not fit leaves the value empty, and Encode refuses it.
func Number(bmp byte, n int64) Field {
	v, err := PackBCD(n, bmps[bmp].Len)
	if err != nil {
		v = nil
	}
	return Field{BMP: bmp, Value: v}
}

// Amount builds BMP 04 from minor units.
func Amount(minor int64) Field { return Number(0x04, minor) }

// Currency builds BMP 49 from a numeric ISO 4217 code.
func Currency(numeric int) Field { return Number(0x49, int64(numeric)) }

// Receipt builds BMP 87.
func Receipt(n int) Field { return Number(0x87, int64(n)) }

// Trace builds BMP 0B.
func Trace(n int) Field { return Number(0x0B, int64(n)) }

// Text builds a text field in a character set, cut to what the field can carry (a text is never worth an error).
// Fixed fields are padded with spaces.
func Text(bmp byte, cs Charset, s string) Field {
	spec := bmps[bmp]
	v := cs.Encode(s)
	limit := spec.Len
	switch spec.Format {
	case LLVar:
		limit = 99
	case LLLVar:
		limit = 999
	}
	v = cs.cut(v, limit)
	for spec.Format == Fixed && len(v) < spec.Len {
		v = append(v, ' ')
	}
	return Field{BMP: bmp, Value: v}
}

// CardName builds BMP 8B, which ends in a NUL.
func CardName(cs Charset, s string) Field {
	v := cs.cut(cs.Encode(s), 98)
	return Field{BMP: 0x8B, Value: append(v, 0)}
}

// Container builds BMP 06; without objects it is the empty container 06 00.
func Container(objects ...TLV) Field {
	if objects == nil {
		objects = []TLV{}
	}
	return Field{BMP: 0x06, TLV: objects}
}

// Primitive builds a data object with a value.
func Primitive(tag uint32, value ...byte) TLV {
	if value == nil {
		value = []byte{}
	}
	return TLV{Tag: tag, Value: value}
}

// PrimitiveBCD builds a data object of width bytes of packed digits; a number that does not fit is all nines.
func PrimitiveBCD(tag uint32, n int64, width int) TLV {
	v, err := PackBCD(n, width)
	if err != nil {
		v = make([]byte, width)
		for i := range v {
			v[i] = 0x99
		}
	}
	return TLV{Tag: tag, Value: v}
}

// PrimitiveText builds a data object with a text.
func PrimitiveText(tag uint32, cs Charset, s string) TLV {
	return Primitive(tag, cs.Encode(s)...)
}

// Constructed builds a data object that holds others.
func Constructed(tag uint32, children ...TLV) TLV {
	if children == nil {
		children = []TLV{}
	}
	return TLV{Tag: tag, Children: children}
}

// Line builds 06 D1.
func Line(attr byte, text []byte) Message {
	return Message{Cmd: PrintLine, Raw: append([]byte{attr}, text...)}
}
