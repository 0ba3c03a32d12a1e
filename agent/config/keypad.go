package config

import (
	"fmt"
	"strings"
	"time"

	"posagent/device/keypad"
)

// Keys is the map of the keypad.
func (p Keypad) Keys() (keypad.Map, error) {
	keys := map[string]string{}
	for _, text := range p.Map {
		code, key, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not CODE=KEY", text)
		}
		keys[strings.TrimSpace(code)] = strings.TrimSpace(key)
	}
	return keypad.ParseMap(keys)
}

// keypad checks what a person types on, and what it is needed for.
func (c Config) keypad(k *check) {
	k.oneOf("checkout.choose", c.Checkout.Choose, "register", "screen")
	k.path("keypad.device", c.Keypad.Device)
	k.between("keypad.bounce", c.Keypad.Bounce, time.Millisecond, time.Second)
	keys, err := c.Keypad.Keys()
	if err == nil && c.Keypad.Device != "" {
		_, err = keypad.New(keypad.Config{Path: c.Keypad.Device, Map: keys})
	}
	if err != nil {
		k.fail("keypad.map", "%w", err)
	}
	screen := c.Display.Console || c.Display.File != "" || c.Display.Framebuffer != ""
	if c.Keypad.Device != "" && !screen {
		k.fail("keypad.device", "nobody could read what is asked: set [display] framebuffer, file or console")
	}
	if c.Keypad.Device == "" && c.Checkout.Choose == "screen" {
		k.fail("checkout.choose", "nobody could choose: set [keypad] device")
	}
	if c.Keypad.Device == "" && c.Checkout.OpenAmount {
		k.fail("checkout.open_amount", "nobody could type the amount: set [keypad] device")
	}
}
