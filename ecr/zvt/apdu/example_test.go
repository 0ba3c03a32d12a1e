package apdu_test

import (
	"errors"
	"fmt"

	"posagent/ecr/zvt/apdu"
)

// A register asks for a sale of 12.50 EUR: 06 01 with the amount (BMP 04) and the currency (BMP 49).
func ExampleEncode() {
	data, err := apdu.Encode(apdu.New(apdu.Authorisation, apdu.Amount(1250), apdu.Currency(978)))
	fmt.Printf("% X %v\n", data, err)
	// Output: 06 01 0A 04 00 00 00 00 12 50 49 09 78 <nil>
}

func ExampleDecode() {
	m, err := apdu.Decode([]byte{0x06, 0x01, 0x0A, 0x04, 0, 0, 0, 0, 0x12, 0x50, 0x49, 0x09, 0x78})
	if err != nil {
		fmt.Println(err)
		return
	}
	amount, _, _ := m.Amount()
	currency, _ := m.Currency()
	fmt.Println(m.Cmd, m.Cmd.Name(), amount, currency)
	// Output: 06 01 authorisation 1250 978
}

// The error names the byte and the field. An unknown BMP has a type of its own, because the terminal answers it with
// 84 83 00.
func ExampleDecode_invalid() {
	_, err := apdu.Decode([]byte{0x06, 0x01, 0x03, 0x04, 0x00, 0x00})
	fmt.Println(err)

	_, err = apdu.Decode([]byte{0x06, 0x01, 0x02, 0xFE, 0x00})
	var unknown *apdu.UnknownBMPError
	fmt.Println(errors.As(err, &unknown))
	// Output:
	// apdu: 04 at offset 6: data ends too early
	// true
}

// Next cuts a stream of bytes into messages.
func ExampleNext() {
	stream := []byte{0x80, 0x00, 0x00, 0x06, 0x0F, 0x00, 0x04, 0xFF}
	for {
		one, rest, missing := apdu.Next(stream)
		if one == nil {
			fmt.Println("at least", missing, "more")
			return
		}
		fmt.Printf("% X\n", one)
		stream = rest
	}
	// Output:
	// 80 00 00
	// 06 0F 00
	// at least 1 more
}
