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

// There says whether a person can type anywhere.
func (p Keypad) There() bool { return p.Device != "" || p.Page }

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
	screen := c.Display.Console || c.Display.File != "" || c.Display.Framebuffer != "" || c.Display.Page
	if c.Keypad.Page && !c.Display.Page {
		k.fail("keypad.page", "there is no page with keys: set [display] page = true")
	}
	if c.Keypad.Device != "" && !screen {
		k.fail("keypad.device", "nobody could read what is asked: set [display] framebuffer, file or console")
	}
	if !c.Keypad.There() && c.Checkout.Choose == "screen" {
		k.fail("checkout.choose", "nobody could choose: set [keypad] device")
	}
	if !c.Keypad.There() && c.Checkout.OpenAmount {
		k.fail("checkout.open_amount", "nobody could type the amount: set [keypad] device")
	}
}
