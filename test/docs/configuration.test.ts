import { quotaTexts } from '@mutirao/api/reasons';
import { quotaKinds, type QuotaKind, type QuotaName } from '@mutirao/core/quotas';
import { commonOptions, flagName, type OptionSpec, type OptionSpecs } from '@mutirao/runtime/program';
import test from 'ava';
import { agentProgram } from '../../packages/agent/src/program.ts';
import { brokerProgram } from '../../packages/broker/src/program.ts';
import { main as cluster } from '../../packages/cluster/src/main.ts';
import { main as provider } from '../../packages/provider/src/main.ts';
import { main as reservations } from '../../packages/reservations/src/main.ts';
import { main as web } from '../../packages/web/src/main.ts';
import { comparePage, getTable } from './compare-page.ts';

const programs = [brokerProgram, provider, agentProgram, cluster, reservations, web].map(({ program }) => program);

function settingsTable(specs: OptionSpecs): string {
  return getTable(
    ['option', 'default', 'effect'],
    Object.entries(specs).map(([name, spec]) => [getUsage(name, spec), defaultOf(spec), spec.help]),
  );
}

function getUsage(name: string, { placeholder }: OptionSpec<unknown>): string {
  return placeholder === '' ? `\`${flagName(name)}\`` : `\`${flagName(name)} ${placeholder}\``;
}

function defaultOf({ shownDefault, placeholder }: OptionSpec<unknown>): string {
  if (placeholder === '') return 'off';
  return shownDefault === '' ? '' : `\`${shownDefault}\``;
}

function quotaAmount({ usual, unit }: QuotaKind): string {
  if (unit === 'bytes') return usual % 1024 ** 3 === 0 ? `${usual / 1024 ** 3}G` : `${usual / 1024 ** 2}M`;
  return unit === 'hours' ? `${usual} h` : usual.toLocaleString('en-US');
}

const quotaServers = {
  broker: 'broker',
  provider: 'each provider',
  reservations: 'reservation manager',
  server: 'each server',
} as const;

function quotaTable(): string {
  return getTable(
    ['quota', 'default', 'enforced by', 'what is counted'],
    Object.entries<QuotaKind>(quotaKinds).map(([name, kind]) => [
      `\`${name}\``,
      quotaAmount(kind),
      quotaServers[kind.enforcer],
      quotaTexts[name as QuotaName].of,
    ]),
  );
}

test('docs/reference/configuration.md has the settings and quotas that the programs use', (t) => {
  const { found, expected } = comparePage('reference/configuration.md', {
    'common settings': settingsTable(commonOptions),
    ...Object.fromEntries(
      programs.map(({ name, options }) => [`settings of ${name}`, settingsTable(options as OptionSpecs)]),
    ),
    quotas: quotaTable(),
  });
  t.is(found, expected, 'run this test with BLESS=1 and read what it changes');
});
