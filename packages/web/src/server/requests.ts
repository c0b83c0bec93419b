import { Compile, type Validator } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { Static, TSchema } from 'typebox';

import { MutiraoError } from '@mutirao/api/errors';

import type { RouteBody, RouteName, RouteParams, RouteQuery, RouteReply, RouteSchema } from '../schema/index.ts';

/** What a handler is asked, checked against the schema of its route. */
export interface Asked<N extends RouteName> {
  readonly params: RouteParams<N>;
  readonly query: RouteQuery<N>;
  readonly body: RouteBody<N>;
}

/** Answers a call. @throws {MutiraoError | FormatError} which become Problems. */
export type Handler<N extends RouteName> = (asked: Asked<N>) => Promise<RouteReply<N>> | RouteReply<N>;

/** A handler for each of these routes: one that is missing does not compile. */
export type Handlers<N extends RouteName = RouteName> = { readonly [K in N]: Handler<K> };

/**
 * Reads what a call was given by the schemas of its route. Numbers of paths and queries come as text and are converted;
 * a body is taken as it is.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST that names the first thing that is wrong.
 */
export function readRequest(
  schema: RouteSchema,
  given: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
): { params: unknown; query: unknown; body: unknown } {
  return {
    params: checked(schema.params, Value.Convert(schema.params, given.params), 'the path'),
    query: checked(schema.query, Value.Convert(schema.query, given.query), 'the query'),
    body: checked(schema.body, given.body ?? {}, 'the body'),
  };
}

function checked<T extends TSchema>(schema: T, value: unknown, where: string): Static<T> {
  const validator = findValidator(schema);
  if (validator.Check(value)) return value as Static<T>;
  const [first] = validator.Errors(value);
  const at =
    first === undefined || first.instancePath === '' ? where : `${where} at ${first.instancePath.slice(0, 200)}`;
  throw new MutiraoError('MUT_BAD_REQUEST', `${at}: ${first?.message ?? 'is not as documented'}`);
}

/** Compiled at the first use: a page needs few of them. */
function findValidator(schema: TSchema): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const made = Compile(schema);
  validators.set(schema, made);
  return made;
}

const validators = new WeakMap<TSchema, Validator>();
