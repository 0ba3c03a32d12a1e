// A till that uses the unmodified library. Arguments: endpoint, PEM file, passphrase, API key.
const { Client, Config, TerminalLocalAPI } = require("@adyen/api-library");
const [endpoint, certificatePath, passphrase, apiKey] = process.argv.slice(2);
const api = new TerminalLocalAPI(new Client(new Config({ apiKey, environment: "TEST", certificatePath, terminalApiLocalEndpoint: endpoint })));
const key = { AdyenCryptoVersion: 1, KeyIdentifier: "till", KeyVersion: 3, Passphrase: passphrase };
const ask = (category, ServiceID, body, with_ = key) => api.request({ SaleToPOIRequest: {
  MessageHeader: { ProtocolVersion: "3.0", MessageClass: "Service", MessageCategory: category, MessageType: "Request", ServiceID, SaleID: "till1", POIID: "POSAGENT-000020000001" },
  [category + "Request"]: body,
} }, with_);
const payment = (id) => ({ SaleData: { SaleTransactionID: { TransactionID: id, TimeStamp: "2026-11-24T11:00:00.000Z" } }, PaymentTransaction: { AmountsReq: { Currency: "EUR", RequestedAmount: 12.5 } } });
(async () => {
  const say = (name, v) => console.log(name, JSON.stringify(v));
  const of = (r, name) => r.SaleToPOIResponse[name];
  say("login", of(await ask("Login", "L1", { DateTime: "2026-11-24T11:00:00.000Z", OperatorLanguage: "en", SaleSoftware: { ManufacturerID: "a", ApplicationName: "b", SoftwareVersion: "1", CertificationCode: "c" } }), "LoginResponse").Response.Result);
  const paid = of(await ask("Payment", "P1", payment("order-1")), "PaymentResponse");
  say("payment", [paid.Response.Result, paid.PaymentResult.AmountsResp.AuthorizedAmount]);
  const status = of(await ask("TransactionStatus", "S1", { MessageReference: { MessageCategory: "Payment", SaleID: "till1", ServiceID: "P1" } }), "TransactionStatusResponse");
  say("status", [status.Response.Result, status.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse.PaymentResult.AmountsResp.AuthorizedAmount]);
  say("diagnosis", of(await ask("Diagnosis", "D1", { HostDiagnosisFlag: true }), "DiagnosisResponse").POIStatus.GlobalStatus);
  const gone = await ask("Abort", "A1", { AbortReason: "MerchantAbort", MessageReference: { MessageCategory: "Payment", SaleID: "till1", ServiceID: "P9" } });
  say("abort", gone.SaleToPOIResponse === undefined);
  try {
    await ask("Payment", "P2", payment("order-2"), { ...key, Passphrase: "another passphrase" });
    say("wrong key", "accepted");
  } catch (e) { say("wrong key", /crypto error/.test(e.message + e.responseBody)); }
})().catch((e) => { console.error(e); process.exit(1); });
