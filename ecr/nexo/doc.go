// Package nexo speaks nexo Retailer as JSON over HTTPS, in the dialect of a Terminal API that many
// tills have a library for. A till posts one message to /nexo/; the HTTP response is the answer.
//
// It owns the messages (json.go, amount.go), their encryption (crypt.go), the HTTP server of one
// connection (http.go) and the dialogue. Its caller brings the certificate. README.md says what the
// protocol can promise, and what is not built yet.
//
// It guarantees:
//   - One sale for one SaleID, ServiceID and SaleTransactionID, however often it is asked for. The
//     same SaleID and ServiceID with another content within 48 hours begins nothing.
//   - An amount is read from its decimal text. It is an exact number of minor units, or refused.
//   - With keys, nothing is believed before its HMAC is checked, and every failure looks the same.
//   - A request of a web page begins nothing: Origin, Referer, Sec-Fetch-* and foreign content types
//     are refused.
//   - An outcome counts as told when TCP has acknowledged the last byte of its answer and the till
//     had not hung up before.
//   - No API key, passphrase or content of a message reaches a log.
//
// The dialogue is pure; the transport does the I/O. It imports ecr, ecr/receipt, schemes/money, the
// standard library and golang.org/x/sys.
package nexo
