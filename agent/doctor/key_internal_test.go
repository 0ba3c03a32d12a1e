package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
)

// A certificate of the enrolment is renewed by the terminal, and one that client_cert names is not: who does what depends on whose it is.
func TestWhoseCertificateEnds(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	until := func(at time.Time) []byte {
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon.AddDate(-2, 0, 0), NotAfter: at}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
		require.NoError(t, err)
		return der
	}
	check, ok := Find("PA-KEY-003")
	require.True(t, ok)
	for _, tc := range []struct {
		left time.Duration
		want exam.Status
	}{{31 * 24 * time.Hour, exam.Pass}, {29 * 24 * time.Hour, exam.Warn}, {6 * 24 * time.Hour, exam.Warn}, {-time.Hour, exam.Fail}} {
		der := until(noon.Add(tc.left))
		found := check.Look(context.Background(), &Facts{Now: noon, Config: Config{Device: der}})
		require.Equal(t, tc.want, found.Status)
		if tc.want == exam.Pass {
			continue
		}
		require.Contains(t, found.Do, "posagent enroll{flags} tries at once")
		require.Equal(t, "posagent enroll{flags}", found.Type)
		file := filepath.Join(t.TempDir(), "client.pem")
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
		found = check.Look(context.Background(), &Facts{Now: noon, Config: Config{Device: until(noon.AddDate(1, 0, 0)), ClientCert: file}})
		require.Equal(t, tc.want, found.Status, "client_cert is the one that is shown")
		require.Empty(t, found.Type)
	}
}
