package fleet_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

const bundleCode = wire.Secret("7K3M9QXD2PV")

// stick is a bundle as a service makes it.
func stick(t testing.TB, change func(*fleet.Bundle)) fleet.Bundle {
	ca := authority(t, edward(1))
	b := fleet.Bundle{
		EnrolmentID: "e1", SerialNumber: "PA-0001", URL: "https://fleet.example", Authority: fleet.CertificatePEM(ca.Raw),
		MadeAt: "2026-11-23T10:00:00.000Z", ExpiresAt: "2026-11-30T10:00:00Z", Configuration: fleet.SignRevision(edward(1), "e1", 1, "bearer = \"cAnArY\"\n"),
	}
	if change != nil {
		change(&b)
	}
	return fleet.SignBundle(edward(1), b)
}

func sealed(t testing.TB, b fleet.Bundle) []byte {
	t.Helper()
	file, err := b.Seal(bundleCode)
	require.NoError(t, err)
	return file
}

// A bundle comes out as it went in, for its code alone; the file shows whose it is, and holds no secret.
func TestABundleFile(t *testing.T) {
	b := stick(t, nil)
	file := sealed(t, b)
	require.Equal(t, file, sealed(t, b), "the same call has the same answer")
	require.NotContains(t, string(file), "cAnArY")
	require.NotContains(t, string(file), bundleCode.Reveal())
	require.NotContains(t, string(file), "https://fleet.example")
	head, err := fleet.ReadBundleHead(file)
	require.NoError(t, err)
	require.Equal(t, []string{"PA-0001", "2026-11-23T10:00:00.000Z", "2026-11-30T10:00:00Z"}, []string{head.SerialNumber, head.MadeAt, head.ExpiresAt})
	got, err := fleet.OpenBundle(file, bundleCode)
	require.NoError(t, err)
	require.Equal(t, b, got)
	require.Equal(t, time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), got.Until())
	require.Equal(t, time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), got.Made())
	_, err = fleet.OpenBundle(file, "7K3M9QXD2PW")
	require.ErrorIs(t, err, fleet.ErrBundleCode)
	again := stick(t, func(b *fleet.Bundle) { b.Configuration = fleet.SignRevision(edward(1), "e1", 2, "a = 1\n") })
	other := sealed(t, again)
	at := bytes.IndexByte(file, '\n') + 1
	at += bytes.IndexByte(file[at:], '\n') + 1
	require.Equal(t, file[:at], other[:at])
	require.NotEqual(t, file[at:at+12], other[at:at+12], "one nonce never serves two contents")
}

// resum gives a changed file the digest that fits, as an attacker would.
func resum(file []byte) []byte {
	body := file[:len(file)-sha256.Size]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// Whatever is cut off or changed is refused as a whole, wherever it is.
func TestABundleIsWhole(t *testing.T) {
	file := sealed(t, stick(t, nil))
	for n := range file {
		_, err := fleet.ReadBundleHead(file[:n])
		require.ErrorIs(t, err, fleet.ErrBundle, "cut off at %d", n)
		spoilt := bytes.Clone(file)
		spoilt[n] ^= 1
		_, err = fleet.ReadBundleHead(spoilt)
		require.Error(t, err, "changed at %d", n)
	}
	head := bytes.Index(file, []byte("PA-0001"))
	for name, change := range map[string]func([]byte){
		"another box in the head": func(b []byte) { b[head+6] = '2' },
		"a later end":             func(b []byte) { copy(b[bytes.Index(b, []byte("2026-11-30")):], "2027") },
		"content":                 func(b []byte) { b[len(b)-sha256.Size-1] ^= 1 },
		"nonce":                   func(b []byte) { b[bytes.LastIndexByte(b[:head+200], '\n')+1] ^= 1 },
	} {
		spoilt := bytes.Clone(file)
		change(spoilt)
		_, err := fleet.OpenBundle(resum(spoilt), bundleCode)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, fleet.ErrBundleNewer, name)
	}
	long := strings.Repeat("x", fleet.MaxBundle+1)
	first, rest, _ := strings.Cut(string(file), "\n")
	for name, text := range map[string]string{
		"nothing": "", "hello": "hello", "a tar archive": "./\x00\x00\x00", "a backup": "posagent-bundle 1\n{}\n", "huge": long, "a huge head": first + "\n" + long,
		"no head": first + "\n", "the first line alone": first, "version 0": "posagent-enrolment-bundle 0\n" + rest, "no version": "posagent-enrolment-bundle \n" + rest,
		"a million members": first + "\n{" + strings.Repeat(`"a":1,`, 50_000) + "}\n",
	} {
		_, err := fleet.ReadBundleHead([]byte(text))
		require.ErrorIs(t, err, fleet.ErrBundle, name)
		_, err = fleet.OpenBundle([]byte(text), bundleCode)
		require.ErrorIs(t, err, fleet.ErrBundle, name)
	}
	_, err := fleet.ReadBundleHead([]byte("posagent-enrolment-bundle 2\n" + rest))
	require.ErrorIs(t, err, fleet.ErrBundleNewer)
}

// What opens is believed only if one authority has signed all of it.
func TestABundleIsSigned(t *testing.T) {
	good := stick(t, nil)
	ca, err := fleet.ParseCertificate(good.Authority)
	require.NoError(t, err)
	require.NoError(t, good.Verify(""))
	require.NoError(t, good.Verify(strings.ToUpper(fleet.Fingerprint(ca.Raw))))
	require.ErrorIs(t, good.Verify(strings.Repeat("00", 32)), fleet.ErrBundleSigner)
	stranger := authority(t, edward(3))
	for name, change := range map[string]func(*fleet.Bundle){
		"enrolment": func(b *fleet.Bundle) { b.EnrolmentID = "e2" }, "box": func(b *fleet.Bundle) { b.SerialNumber = "PA-0002" },
		"address": func(b *fleet.Bundle) { b.URL = "https://evil.example" }, "made": func(b *fleet.Bundle) { b.MadeAt = "2026-11-24T10:00:00.000Z" },
		"end": func(b *fleet.Bundle) { b.ExpiresAt = "2027-11-30T10:00:00Z" }, "text": func(b *fleet.Bundle) { b.Configuration.Text += "x" },
		"number":        func(b *fleet.Bundle) { b.Configuration.Number++ },
		"configuration": func(b *fleet.Bundle) { b.Configuration = fleet.SignRevision(edward(3), "e1", 1, "a = 1\n") },
		"authority":     func(b *fleet.Bundle) { b.Authority = fleet.CertificatePEM(stranger.Raw) }, "no authority": func(b *fleet.Bundle) { b.Authority = "x" },
		"signature": func(b *fleet.Bundle) { b.Signature = "!" }, "no signature": func(b *fleet.Bundle) { b.Signature = "" },
		"fields run into each other": func(b *fleet.Bundle) { b.EnrolmentID, b.SerialNumber = "e1\n7:PA-0001", "" },
	} {
		bad := good
		change(&bad)
		require.ErrorIs(t, bad.Verify(""), fleet.ErrBundleSigner, name)
	}
	resigned := good // of a text that the authority signed for another enrolment
	resigned.Configuration = fleet.SignRevision(edward(1), "e2", 1, "a = 1\n")
	require.ErrorIs(t, fleet.SignBundle(edward(1), resigned).Verify(""), fleet.ErrBundleSigner)
}

// A content that no service makes is refused, though its code opens it.
func TestABundleHasItsParts(t *testing.T) {
	for name, change := range map[string]func(*fleet.Bundle){
		"no enrolment": func(b *fleet.Bundle) { b.EnrolmentID = "" }, "a dot name": func(b *fleet.Bundle) { b.EnrolmentID = ".." },
		"no box": func(b *fleet.Bundle) { b.SerialNumber = "" }, "a box that is a command": func(b *fleet.Bundle) { b.SerialNumber = "a\x1b[2J" },
		"a file": func(b *fleet.Bundle) { b.URL = "file:///etc/passwd" }, "no number": func(b *fleet.Bundle) { b.Configuration.Number = 0 },
		"no text": func(b *fleet.Bundle) { b.Configuration.Text = "" }, "no moment": func(b *fleet.Bundle) { b.MadeAt = "yesterday" },
		"no end": func(b *fleet.Bundle) { b.ExpiresAt = "" }, "a long text": func(b *fleet.Bundle) {
			b.Configuration.Text = wire.Secret(strings.Repeat("x", fleet.MaxConfiguration+1))
		},
	} {
		_, err := fleet.OpenBundle(sealed(t, stick(t, change)), bundleCode)
		require.ErrorIs(t, err, fleet.ErrBundle, name)
	}
	full := stick(t, func(b *fleet.Bundle) {
		b.Configuration = fleet.SignRevision(edward(1), "e1", 1, wire.Secret(strings.Repeat("\x01", fleet.MaxConfiguration)))
	})
	got, err := fleet.OpenBundle(sealed(t, full), bundleCode)
	require.NoError(t, err, "the longest configuration fits, however it is written")
	require.Equal(t, full, got)
}

func FuzzReadBundleHead(f *testing.F) {
	f.Add(sealed(f, stick(f, nil)))
	f.Add([]byte("posagent-enrolment-bundle 1\n{}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if head, err := fleet.ReadBundleHead(file); err == nil {
			require.True(t, fleet.SerialNumber(head.SerialNumber))
		}
	})
}
