/** The token of gateways in tests. */
export const webToken = 'a-token-of-the-page-0123456789';
/** How gateways in tests are called. */
export const webHost = '127.0.0.1:7777';
/** What the gateway's own page sends along. */
export const webHeaders: Readonly<Record<string, string>> = {
  host: webHost,
  authorization: `Bearer ${webToken}`,
  'sec-fetch-site': 'same-origin',
};
