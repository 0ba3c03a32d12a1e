package control

import (
	"context"
	"net/url"

	"posagent/ecr/receipt"
	"posagent/schemes/wire"
)

// Print prints a copy of a sale's receipt. waits is why it is not on paper yet; "" = it is.
func (c *Client) Print(ctx context.Context, sale wire.Key, which receipt.Copy) (waits string, err error) {
	v, err := c.exchange(ctx, "/sales/"+url.PathEscape(string(sale))+"/print", "print", asked{Copy: which})
	return v.Waits, err
}
