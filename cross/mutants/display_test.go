package mutants

const (
	screens = "device/display"
	onPanel = "device/display/framebuffer"
)

// ofScreens is every broken rule of what a customer sees.
var ofScreens = []mutant{
	{"a slow panel keeps saying ready", screens, "TestASlowScreenIsEnded", []edit{
		{"device/display/watched.go", `stuck := w.stuck && within <= w.limit`, `stuck := w.stuck`},
	}},
	{"an end is hidden by the one before", drive, "TestAnEndTakesThePlaceOfTheOneBefore", []edit{
		{"agent/checkout/drive/perform/screen.go", `p.onScreen == key || p.endShown`, `p.onScreen == key`},
	}},
	{"the screen says ready whatever the terminal finds out", "agent", "TestField2_D9TheScreenSaysReadyOnlyWhereTheTerminalIs", []edit{
		{"agent/readiness.go", `	case r.NotReady == nil:`, `	case r.NotReady == nil || !r.Ready:`},
	}},
	{"the screen says ready before the terminal was judged", "agent", "TestField2_D9TheScreenSaysReadyOnlyWhereTheTerminalIs", []edit{
		{"agent/agent.go", `a.drive.Faces(scene.Starting)`, `a.drive.Faces(scene.Idle)`},
	}},
	{"a code that nobody can scan is waited for", drive, "TestField2_D8ACodeThatNobodyCanScanEndsTheSale", []edit{
		{"agent/checkout/drive/perform/screen.go", `if errors.Is(err, display.ErrUnseen) {`, `if errors.Is(err, display.ErrStuck) {`},
	}},
	{"a code is shown after its time", screens + "/scene", "TestACodeIsThereOnlyBeforeItsTime", []edit{
		{"device/display/scene/scene.go", `!s.Until.IsZero() && !now.Before(s.Until)`, `!s.Until.IsZero() && now.After(s.Until)`},
	}},
	{"a code is shown beside how the sale ended", screens + "/scene", "TestACodeIsInNoOtherScene", []edit{
		{"device/display/scene/scene.go", `if s.Kind != Code || `, `if s.Kind == Idle || `},
	}},
	{"a panel keeps a code that is over", screens, "TestAFramebufferIsDrawnAgain", []edit{
		{"device/display/framebuffer.go", `f.canvas.dots(f.view, f.Now(), `, `f.canvas.dots(f.view, f.view.From, `},
	}},
	{"a picture file keeps a code that is over", screens, "TestFileTakesTheCodeOff", []edit{
		{"device/display/file.go", `over == f.over && f.last != nil`, `(over || !over) && f.last != nil`},
	}},
	{"a panel keeps a code when the program ends", screens, "TestNothingOfASaleStaysWhenTheProgramEnds", []edit{
		{"device/display/framebuffer.go", `f.view, f.ended = last(f.view), true`, `f.ended = true`},
	}},
	{"a code comes back after the program's end", screens, "TestNothingOfASaleStaysWhenTheProgramEnds", []edit{
		{"device/display/file.go", "	if f.ended {\n\t\treturn nil\n\t}\n\tf.view, f.shown = v, true", "	f.view, f.shown = v, true"},
	}},
	{"a masked value is written on the screen", screens + "/scene", "TestAMaskedValueIsNotInTheTexts", []edit{
		{"device/display/scene/scene.go", `if e.Masked {`, `if e.Masked && n > maxTyped {`},
	}},
	{"the colour of a method hides the text on it", screens, "TestTextIsReadOnAnyColour", []edit{
		{"device/display/scene/color.go", `if Contrast(white, c) > Contrast(black, c) {`, `if 299*int(c.R)+587*int(c.G)+114*int(c.B) < 128*1000 {`},
	}},
	{"a text of the backend leaves its box", screens + "/paint", "TestATextStaysInItsBox", []edit{
		{"device/display/paint/paint.go", `clip := e.Box.Intersect(p.pic.Rect)`, `clip := p.pic.Rect`},
	}},
	{"a code is shown without room for its amount", screens + "/layout", "TestNoCodeWithoutRoomForItOrItsAmount", []edit{
		{"device/display/layout/code.go", `bold: true, amount: true},`, `bold: true, amount: true, drop: 5},`},
	}},
	{"an amount is too small for a metre", screens, "TestTheAmountIsTheLargestText", []edit{
		{"device/display/layout/layout.go", `AmountShare = 9 `, `AmountShare = 5 `},
	}},
	{"a code of hair-thin modules is shown", screens + "/layout", "TestNoCodeWithoutRoomForItOrItsAmount", []edit{
		{"device/display/layout/layout.go", `MinModule   = 2 `, `MinModule   = 1 `},
	}},
	{"a panel is written beyond its memory", onPanel, "TestADeviceThatLiesIsRefused", []edit{
		{"device/display/framebuffer/mode.go", `; m.end() > memory {`, `; m.end() > memory+m.Stride {`},
	}},
	{"a file that holds something else is drawn over", onPanel, "TestWhatIsNoFramebuffer", []edit{
		{"device/display/framebuffer/framebuffer.go", `n != 0 && n != int64(`, `n < 0 && n != int64(`},
	}},
	{"a turned panel shows the picture mirrored", screens, "TestTheFramebufferHasTheDotsOfThePNG", []edit{
		{"device/display/framebuffer/framebuffer.go", `at, step = 4*(h-1-y), pic.Stride`, `at, step = 4*y, pic.Stride`},
	}},
	{"a panel that was pulled stays dark", onPanel, "TestADeviceThatWasPulledIsOpenedAgain", []edit{
		{"device/display/framebuffer/framebuffer.go", "	if err := d.write(pic, whole); err != nil {\n", "	if err := d.write(pic, whole); err != nil {\n\t\td = &Device{}\n"},
	}},
	{"one screen that hangs stops the others", screens, "TestField2_P1OneStuckScreenStopsNoOther", []edit{
		{"device/display/display.go", `all.Go(func() { errs[i] = do(s) })`, `errs[i] = do(s)`},
	}},
	{"a screen that hangs is not named", screens, "TestAScreenThatDoesNotTakePicturesHoldsNobodyUp", []edit{
		{"device/display/watched.go", `	case w.stuck:
		return w.isStuck()
`, ``},
	}},
	{"a picture of an earlier sale stays where none can be written", screens, "TestField2_P2NoPictureOfAnEarlierSaleStays", []edit{
		{"device/display/file.go", `stays := unix.Unlink(f.path)`, `stays := unix.Unlink("")`},
	}},
	{"a panel that refuses a picture keeps the old one", onPanel, "TestField2_P2APanelThatRefusesAPictureIsMadeDark", []edit{
		{"device/display/framebuffer/framebuffer.go", `d.dark = d.isDevice()`, `d.dark = false`},
	}},
	{"nobody says that another program has changed a line", "device/line", "TestField2_P3SettingsThatAreChangedComeBack", []edit{
		{"device/line/conn.go", `s.Altered, s.AlteredAt = s.Altered+1, time.Now()`, `s.AlteredAt = time.Now()`},
	}},
}
