package apdu

// isBCD reports whether every nibble is a decimal digit.
func isBCD(b []byte) bool {
	for _, x := range b {
		if x>>4 > 9 || x&0x0F > 9 {
			return false
		}
	}
	return true
}

// UnpackBCD reads packed decimal digits. Errors: ErrBCD for a nibble A-F, ErrValue for more than 18
// digits.
func UnpackBCD(b []byte) (int64, error) {
	if len(b) > 9 {
		return 0, ErrValue
	}
	if !isBCD(b) {
		return 0, ErrBCD
	}
	var n int64
	for _, x := range b {
		n = n*100 + int64(x>>4)*10 + int64(x&0x0F)
	}
	return n, nil
}

// PackBCD writes n as width bytes of packed decimal digits. Errors: ErrValue if n is negative or
// too large.
func PackBCD(n int64, width int) ([]byte, error) {
	if n < 0 {
		return nil, ErrValue
	}
	b := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		b[i] = byte(n/10%10)<<4 | byte(n%10)
		n /= 100
	}
	if n != 0 {
		return nil, ErrValue
	}
	return b, nil
}
