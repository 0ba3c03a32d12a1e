package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/cross/need"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
	"posagent/ecr/ecrtest/lines"
)

// printerOf is the printer of a [printer] section.
func printerOf(t *testing.T, section string) (*printer.Printer, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("[printer]\ndevice = \"/dev/ttyS9\"\n"+section+"\n"), 0o600))
	cfg, err := config.Load(file, nil)
	require.NoError(t, err, section)
	return receiptPrinter(cfg)
}

// TestWhatTheConfigurationTakesIsAPrinter: the names that a configuration is held to are those of the printers.
func TestWhatTheConfigurationTakesIsAPrinter(t *testing.T) {
	none, err := receiptPrinter(config.Default())
	require.NoError(t, err)
	require.Nil(t, none)
	for _, name := range printer.ProfileNames() {
		for _, status := range []string{"", "none", "realtime", "full", "inorder", "asb"} {
			for _, device := range []string{"serial", "usb"} {
				_, err := printerOf(t, "profile = \""+name+"\"\nstatus = \""+status+"\"\nkind = \""+device+"\"\ncolumns = 42")
				require.NoError(t, err)
			}
		}
	}
	for _, page := range printer.PageNames() {
		_, err := printerOf(t, "pages = [\""+page+" 200\"]")
		require.NoError(t, err, page)
	}
}

// TestARegisterIsAnsweredWhilePaperIsOut: with a printer on a real line, whose paper ends within a receipt. The register's next sale is
// approved meanwhile, and both receipts follow the new roll.
func TestARegisterIsAnsweredWhilePaperIsOut(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), need.Ports(t, 1)[0]
	far := printertest.New(printertest.Config{Columns: 48, Dots: 576, RealTime: true, InOrder: true, Stops: true})
	cable, err := lines.Plug(dir)
	require.NoError(t, err)
	near, err := lines.OpenRaw(cable.Device) // a pseudo terminal that nobody has open hangs up, a serial line does not
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() { far.Serve(cable.Far) })
	t.Cleanup(func() { cable.Pull(); _ = near.Close(); served.Wait() })
	text := fmt.Sprintf(sandbox, at) + fmt.Sprintf("[printer]\ndevice = %q\nprofile = \"80mm\"\nbaud = 115200\n", cable.Device)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600))
	x := runIn(t, dir)
	flags := []string{"--config", filepath.Join(dir, "config.toml"), "--state", filepath.Join(dir, "state")}
	posagent := func(args ...string) (string, error) {
		out, err := exec.Command("posagent", append(args, flags...)...).CombinedOutput()
		return string(out), err
	}
	status := func(want string) {
		t.Helper()
		last := ""
		need.Until(t, fmt.Sprintf("the status %q", want), func() bool {
			last, _ = posagent("status")
			return strings.Contains(last, want)
		})
	}
	pay := func() {
		t.Helper()
		out, err := posagent("register", "pay", "12.50", "--line", "tcp:127.0.0.1:"+at)
		require.NoError(t, err, out)
	}
	receipts := func(n int) {
		t.Helper()
		need.Until(t, fmt.Sprint(n, " receipts"), func() bool { return strings.Count(far.Listing(), "=== cut") == n && far.Idle() })
	}
	status("READY, SANDBOX")
	pay()
	receipts(1)
	far.PaperOutAfter(200)
	pay()
	status("wait: paper is out")
	pay()
	status("READY, SANDBOX")
	status("2 document(s) wait: paper is out")
	far.Set(printertest.PaperOut, false)
	receipts(4) // with what was cut off
	got := far.Listing()
	require.Equal(t, 1, strings.Count(got, "INCOMPLETE - NOT VALID"), got)
	require.Equal(t, 1, strings.Count(got, "COPY"), got)
	require.Equal(t, 3, strings.Count(got, "=== cut")-strings.Count(got, "INCOMPLETE - NOT VALID"), got)
	for _, number := range []string{"R1/1 T", "R1/2 T", "R1/3 T"} { // the code's text ends a receipt
		require.Equal(t, 1, strings.Count(got, number), got)
	}
	require.Empty(t, far.Strange())
	status("0 document(s) wait\n")
	x.stop()
}
