import type { BrokerInput, BrokerState } from '@mutirao/core/machines/broker';
import type { ProviderId } from '@mutirao/core/shared';

interface NamedProvider {
  readonly providerId: ProviderId;
  readonly address: string;
}

/** What the process was started with: providers to use, and those of an earlier grid to remove. */
export interface ConfiguredProviders {
  readonly providers: readonly NamedProvider[];
  readonly formerProviders: readonly NamedProvider[];
}

/** The inputs that bring a broker to its configuration. A provider that has moved to another address stays. */
export function configureProviders(
  { providers: known }: Pick<BrokerState, 'providers'>,
  { providers, formerProviders }: ConfiguredProviders,
): BrokerInput[] {
  const isUsed = ({ providerId, address }: NamedProvider): boolean => {
    const provider = known.get(providerId);
    return provider?.address === address && !provider.isRemoved;
  };
  return [
    ...providers
      .filter((one) => !isUsed(one))
      .map(({ providerId, address }) => ({ kind: 'ProviderAdded' as const, replyTo: 0, providerId, address })),
    ...formerProviders
      .filter(isUsed)
      .map(({ providerId }) => ({ kind: 'ProviderRemoved' as const, replyTo: 0, providerId })),
  ];
}
