package zvt

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// DecodeHex reads one APDU, or one serial block, written in hexadecimal (spaces, colons and dashes are skipped) and
// gives it as people read it. Errors: no hexadecimal, frame and apdu errors.
func DecodeHex(text string, serial bool, cs apdu.Charset) (apdu.Description, error) {
	text = strings.NewReplacer(" ", "", ":", "", "-", "", "\n", "", "\t", "").Replace(text)
	data, err := hex.DecodeString(text)
	var letter hex.InvalidByteError
	switch {
	case errors.As(err, &letter):
		return apdu.Description{}, fmt.Errorf("register: %q is no hexadecimal digit: want the message in pairs of 0 to 9 and A to F, such as "+
			"06010704000000001250", rune(letter))
	case err != nil:
		return apdu.Description{}, fmt.Errorf("register: %d hexadecimal digits are no whole bytes: one is missing, or one too many", len(text))
	}
	if serial {
		if data, err = frame.DecodeBlock(data); err != nil {
			return apdu.Description{}, err
		}
	}
	m, err := apdu.Decode(data)
	if err != nil {
		return apdu.Description{}, err
	}
	return apdu.Describe(m, cs), nil
}
