package hosted_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// A reply may say less of an order than a build must: what S0 4.4 shows of it is enough.
func TestAReportNeedNotRepeatTheOrder(t *testing.T) {
	var got hosted.Report
	require.NoError(t, wire.DecodeReply([]byte(`{"orderStatus":{"order":{"orderId":"o1"}},"operations":[],"links":[]}`), &got))
	require.Equal(t, "o1", got.OrderStatus.Order.OrderID)
	require.Error(t, wire.DecodeReply([]byte(`{"orderStatus":{}}`), &got))
}
