// The page carries no schemas, so its own table of calls is held against them.
import test from 'ava';
import { apiPrefix, routes } from '@mutirao/web/schema';
import { listAddress, apiPath, routePaths } from '../../../client/src/gateway/route-paths.ts';

test('every call of the gateway is where the schema says', (t) => {
  t.deepEqual(
    routePaths as Record<string, string>,
    Object.fromEntries(Object.entries(routes).map(([name, { method, path }]) => [name, `${method} ${path}`])),
  );
  t.is(apiPath, apiPrefix);
});

test('parameters and queries are escaped, and what is undefined is left out', (t) => {
  t.is(listAddress('getProvider', { provider_id: 'a/b?c' }, {}), '/api/v1/providers/a%2Fb%3Fc');
  t.is(
    listAddress('explainRequest', {}, { request: 'alpha/3', other: undefined }),
    '/api/v1/explain/request?request=alpha%2F3',
  );
});
