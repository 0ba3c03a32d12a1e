package engines

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgtest"
)

// TestServicesOnPostgreSQL: every suite of the backend's services passes on PostgreSQL, unchanged.
func TestServicesOnPostgreSQL(t *testing.T) {
	server := pgtest.Start(t, "max_connections=400")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "posagent/schemes/backend/...")
	cmd.Env = append(os.Environ(), pgtest.Env+"="+server.URL(""))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Greater(t, server.Count("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'file%'"), 100, "the suites ran on files")
}
