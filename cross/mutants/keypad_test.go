package mutants

const (
	keypad = "device/keypad"
	entry  = "device/keypad/entry"
)

// ofKeypad is every broken rule of the keypad and of what is typed on it.
var ofKeypad = []mutant{
	// A press is one key.
	{"a key that is held is pressed again and again", keypad, "TestAHeldKeyIsOnePress", []edit{
		{"device/keypad/filter.go", `if f.keys[e.code] != entry.Correct || `, `if `},
		{"device/keypad/filter.go", "	c.again = e.at\n	return entry.Correct", "	c.again = e.at\n	return f.keys[e.code]"},
	}},
	{"a bounce is a press", keypad, "TestABounceIsTheSamePress", []edit{
		{"device/keypad/filter.go", `bounces := c.down || c.edged && quiet < f.bounce`, `bounces := c.down`},
	}},
	{"a stuck contact presses for ever", keypad, "TestAStuckContactFloods", []edit{
		{"device/keypad/filter.go", `c.floods = c.n >= mostPresses && `, `c.floods = c.n < 0 && `},
	}},
	{"a contact that floods counts while it floods", keypad, "TestAStuckContactFloods", []edit{
		{"device/keypad/filter.go", `case c.floods && wasEdged && quiet < rateWindow:`, `case c.floods && wasEdged && quiet < 0:`},
	}},
	{"Correct that is stuck erases for ever", keypad, "TestCorrectRepeatsWhileItIsHeld", []edit{
		{"device/keypad/filter.go", ` || apart(e.at, c.downAt) >= heldTooLong`, ``},
	}},

	// What was lost is not made up.
	{"events between a drop and its end count", keypad, "TestDroppedEvents", []edit{
		{"device/keypad/filter.go", "		if e.kind != evSyn || e.code != synReport {\n\t\t\treturn", "		if e.kind != evSyn && e.code > maxCode {\n\t\t\treturn"},
	}},
	{"a drop of the kernel's is not told", keypad, "TestTheKernelDropsEvents", []edit{
		{"device/keypad/keypad.go", "			p.queue.add(entry.Gap)\n\t\t\treturn true, err", "			return true, err"},
	}},
	{"what was read behind a drop counts", keypad, "TestTheKernelDropsEvents", []edit{
		{"device/keypad/keypad.go", "			p.queue.add(entry.Gap)\n\t\t\treturn true, err", "			p.queue.add(entry.Gap)\n\t\t\tgaps = true\n\t\t\tif err == nil {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\treturn true, err"},
	}},
	{"a key that is down when the pad is opened repeats", keypad, "TestDroppedEvents", []edit{
		{"device/keypad/filter.go", `c.ours, c.edged = false, false`, `c.edged = false`},
	}},
	{"keys pressed before the pad was opened again are delivered", keypad, "TestAPulledPadComesBack|TestAPadBehindAFile", []edit{
		{"device/keypad/keypad.go", `	if err := d.Flush(); err != nil {`, `	if err := error(nil); err != nil {`},
	}},
	{"keys that wait when the pad is pulled are delivered", keypad, "TestAPulledPadComesBack", []edit{
		{"device/keypad/keypad.go", "	if was {\n\t\tp.queue.drop()", "	if was {\n\t\tp.queue.add(entry.Gap)"},
	}},
	{"a slow reader is not told that keys were lost", keypad, "TestAFullQueueLosesTheNewest|TestASlowReaderIsToldThatKeysWereLost", []edit{
		{"device/keypad/queue.go", "		q.lost++\n\t\tk = entry.Gap", "		q.lost++\n\t\treturn"},
	}},
	{"the queue of a slow reader grows", keypad, "TestAFullQueueLosesTheNewest", []edit{
		{"device/keypad/queue.go", `k != entry.Gap && len(q.keys) >= queueSize-1`, `k == entry.Gap && len(q.keys) >= queueSize-1`},
	}},

	// Which device it is.
	{"a mouse is read as a keypad", keypad, "TestAMouseIsNoKeypad", []edit{
		{"device/keypad/keypad.go", `	if missing := p.keys.lacks(has, needed()); len(missing) > 0 {`, `	if missing := p.keys.lacks(has, needed()); len(missing) > 100 {`},
	}},
	{"any device is opened", keypad, "TestOtherFilesAreNotOpened", []edit{
		{"device/keypad/device.go", "	if !isInput(st) {\n\t\treturn nil, ErrNotInput", "	if !isInput(st) && st.Mode&unix.S_IFMT == 0 {\n\t\treturn nil, ErrNotInput"},
		{"device/keypad/device.go", `err != nil || !isInput(now) {`, `err != nil && isInput(now) {`},
	}},
	{"a process of 32 bits reads events of 64", keypad, "TestBothLayouts", []edit{
		{"device/keypad/event.go", `		rest := p[l-8:]`, `		rest := p[min(int(l), 16):]`},
	}},

	// What is typed.
	{"a part of a number is kept after keys were lost", entry, "TestMatrix", []edit{
		{"device/keypad/entry/entry.go", "	case restart:\n\t\te.wipe()\n", "	case restart:\n"},
	}},
	{"too few digits are accepted", entry, "TestMatrix", []edit{
		{"device/keypad/entry/entry.go", `int64(e.n) < e.prompt.Min`, `int64(e.n) < min(e.prompt.Min, 1)`},
	}},
	{"an entry that has ended goes on", entry, "TestMatrix", []edit{
		{"device/keypad/entry/entry.go", "	if e.phase != Typing {\n\t\treturn", "	if e.phase == TimedOut {\n\t\treturn"},
	}},
	{"an amount grows beyond its maximum", entry, "TestAmountIsTypedInMinorUnits", []edit{
		{"device/keypad/entry/entry.go", `if more > e.prompt.Max {`, `if more > MaxAmount {`},
	}},
	{"what was typed stays in memory", entry, "TestWhatWasTypedIsOverwritten", []edit{
		{"device/keypad/entry/entry.go", `	clear(e.typed[:])`, `	clear(e.typed[len(e.typed):])`},
	}},
	{"masked digits are shown", entry, "TestMaskedDigitsAreNotShown", []edit{
		{"device/keypad/entry/entry.go", `	case e.prompt.Mask:`, `	case e.prompt.Mask && e.n == 0:`},
	}},
	{"a list of keys prints what was typed", entry, "TestNothingPrintsWhatWasTyped", []edit{
		{"device/keypad/entry/key.go", `		return "digit"`, `		return strconv.Itoa(int(k - Digit0))`},
	}},
}
