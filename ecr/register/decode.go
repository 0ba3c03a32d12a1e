package register

import (
	"encoding/hex"
	"fmt"
	"strings"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// DecodeHex reads one APDU, or one serial block, written in hexadecimal (spaces, colons and dashes are skipped) and
// gives it as people read it. Errors: no hexadecimal, frame and apdu errors.
func DecodeHex(text string, serial bool, cs apdu.Charset) (apdu.Description, error) {
	data, err := hex.DecodeString(strings.NewReplacer(" ", "", ":", "", "-", "", "\n", "", "\t", "").Replace(text))
	if err != nil {
		return apdu.Description{}, fmt.Errorf("register: %w", err)
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
