import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import kafka.server.ClientRequestQuotaManager;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuota;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.apache.kafka.server.quota.QuotaType;

/**
 * Writes how long Apache Kafka's own quota managers make clients wait: for each of so many random
 * sequences of charges and changes of quotas, a checksum of all waiting times in its order.
 * `test_quota_sequences.py` makes the same sequences from the same numbers.
 *
 * <pre>java -cp 'libs/*' QuotaSequences.java 10000 > quota_sequences.txt</pre>
 */
public class QuotaSequences {
    static final int STEPS = 30;
    static final double[][] LIMITS = {
        {0.5, 1, 2, 3, 7, 12, 33.3, 90.5}, {20, 45.2, 100, 700, 1000, 2024, 9999, 12345}};
    static final int[][] WINDOWS = {{11, 1}, {11, 1}, {11, 1}, {11, 2}, {2, 1}, {1, 1}, {5, 3}};
    static final String[] CLIENTS = {"c", "c", "c", "d"};
    static final String[] ENTITIES = {"c", "d", null};

    static long state;
    static long nowMs;
    static Session session;

    static int next(int bound) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return (int) ((state >>> 33) % bound);
    }

    static class HandMovedTime implements Time {
        public long milliseconds() { return nowMs; }
        public long nanoseconds() { return nowMs * 1_000_000; }
        public void sleep(long ms) { nowMs += ms; }
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) { }
    }

    static int stepMs(int lastWaitMs) {
        return switch (next(8)) {
            case 0 -> 0;
            case 1, 2 -> next(20);
            case 3, 4 -> next(1000);
            case 5 -> next(5000);
            case 6 -> Math.min(lastWaitMs, 60_000);
            default -> 10_900 + next(2000);
        };
    }

    static ClientQuotaManager manager(int kind, ClientQuotaManagerConfig config, Metrics metrics) {
        Time time = new HandMovedTime();
        if (kind >= 3) return new ControllerMutationQuotaManager(config, metrics, time, "", Optional.empty());
        if (kind == 2) return new ClientRequestQuotaManager(config, metrics, time, "", Optional.empty());
        return new ClientQuotaManager(config, metrics, kind == 0 ? QuotaType.PRODUCE : QuotaType.FETCH, time, "");
    }

    static void change(ClientQuotaManager manager, String clientId, Optional<Quota> quota) {
        var entity = clientId == null ? ClientQuotaManager.DEFAULT_USER_CLIENT_ID
            : new ClientQuotaManager.ClientIdEntity(clientId);
        manager.updateQuota(Optional.empty(), Optional.of(entity), quota);
    }

    /** What the client is told; for one that is refused, that and one more, below zero. */
    static int charge(int kind, ClientQuotaManager manager, String clientId, double amount) {
        if (kind < 3) {
            int waitMs = manager.maybeRecordAndGetThrottleTimeMs(session, clientId, amount, nowMs);
            if (kind == 1 && waitMs > 0) manager.unrecordQuotaSensor(session, clientId, amount, nowMs);
            return waitMs;
        }
        var mutations = (ControllerMutationQuotaManager) manager;
        ControllerMutationQuota quota = kind == 3 ? mutations.newStrictQuotaFor(session, clientId)
            : mutations.newPermissiveQuotaFor(session, clientId);
        try {
            quota.record(amount);
            return quota.throttleTime();
        } catch (ThrottlingQuotaExceededException refused) {
            return -1 - quota.throttleTime();
        }
    }

    static String sequence(int number) throws Exception {
        state = number;
        nowMs = 1_700_000_000_000L;
        int kind = number % 5;
        int[] windows = WINDOWS[next(WINDOWS.length)];
        double[] limits = LIMITS[number % 2];
        double limit = limits[next(limits.length)];
        StringBuilder told = new StringBuilder();
        try (Metrics metrics = new Metrics()) {
            ClientQuotaManager manager = manager(kind, new ClientQuotaManagerConfig(windows[0], windows[1]), metrics);
            change(manager, ENTITIES[next(3)], Optional.of(new Quota(limit, true)));
            int waitMs = 0;
            for (int step = 0; step < STEPS; step++) {
                nowMs += stepMs(Math.abs(waitMs));
                if (next(12) == 0) {
                    String entity = ENTITIES[next(3)];
                    double other = limits[next(limits.length)];
                    change(manager, entity, next(3) == 0 ? Optional.empty() : Optional.of(new Quota(other, true)));
                }
                String clientId = CLIENTS[next(4)];
                double amount = next((int) (limit * 25) + 2);
                if (kind == 2) amount /= 8;
                waitMs = charge(kind, manager, clientId, amount);
                told.append(waitMs).append(' ');
            }
            manager.initiateShutdown();
        }
        return told.toString();
    }

    public static void main(String[] arguments) throws Exception {
        session = new Session(new KafkaPrincipal("User", "u"), InetAddress.getLoopbackAddress());
        int count = Integer.parseInt(arguments[0]);
        for (int number = 0; number < count; number++) {
            String told = sequence(number);
            if (arguments.length > 1) {
                System.out.println(told.trim());
                continue;
            }
            CRC32 checksum = new CRC32();
            checksum.update(told.getBytes());
            System.out.printf("%04x", checksum.getValue() & 0xffff);
            if (number % 24 == 23) System.out.println();
        }
        System.out.println();
        System.exit(0);
    }
}
