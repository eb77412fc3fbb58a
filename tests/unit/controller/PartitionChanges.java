// Reads partitions and what should become of them, one JSON object a line; prints for each what
// Apache Kafka's own PartitionChangeBuilder makes of it.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

public class PartitionChanges {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode question = JSON.readTree(line);
            System.out.println(JSON.writeValueAsString(shown(changed(question))));
        }
    }

    private static PartitionRegistration changed(JsonNode question) {
        PartitionRegistration partition = partition(question.get("partition"));
        JsonNode wanted = question.get("wanted");
        Set<Integer> alive = new HashSet<>(list(question.get("alive")));
        PartitionChangeBuilder builder = new PartitionChangeBuilder(
                partition, new Uuid(1, 1), 0, alive::contains,
                MetadataVersion.latestProduction(), question.get("min_in_sync").asInt(), true)
            .setTargetIsr(list(wanted.get("in_sync")))
            .setTargetReplicas(list(wanted.get("replicas")))
            .setTargetAdding(list(wanted.get("adding")))
            .setTargetRemoving(list(wanted.get("removing")))
            .setElection(PartitionChangeBuilder.Election.valueOf(wanted.get("election").asText()))
            .setDefaultDirProvider(broker -> DirectoryId.UNASSIGNED);
        if (!wanted.get("unclean").isEmpty()) {
            builder.setUncleanShutdownReplicas(list(wanted.get("unclean")));
        }
        return builder.build()
            .map(record -> partition.merge((PartitionChangeRecord) record.message()))
            .orElse(partition);
    }

    private static PartitionRegistration partition(JsonNode fields) {
        int[] replicas = array(fields.get("replicas"));
        Uuid[] directories = new Uuid[replicas.length];
        Arrays.fill(directories, DirectoryId.UNASSIGNED);
        int last = fields.get("last_known_leader").asInt();
        byte recovery = (byte) fields.get("leader_recovery").asInt();
        return new PartitionRegistration.Builder()
            .setReplicas(replicas)
            .setDirectories(directories)
            .setIsr(array(fields.get("in_sync_replicas")))
            .setElr(array(fields.get("eligible_replicas")))
            .setLastKnownElr(last < 0 ? new int[0] : new int[] {last})
            .setAddingReplicas(array(fields.get("adding_replicas")))
            .setRemovingReplicas(array(fields.get("removing_replicas")))
            .setLeader(fields.get("leader").asInt())
            .setLeaderEpoch(fields.get("leader_epoch").asInt())
            .setPartitionEpoch(fields.get("partition_epoch").asInt())
            .setLeaderRecoveryState(LeaderRecoveryState.of(recovery))
            .build();
    }

    private static Map<String, Object> shown(PartitionRegistration partition) {
        Map<String, Object> fields = new TreeMap<>();
        fields.put("replicas", partition.replicas);
        fields.put("in_sync_replicas", partition.isr);
        fields.put("eligible_replicas", partition.elr);
        fields.put("last_known_leader",
            partition.lastKnownElr.length == 0 ? -1 : partition.lastKnownElr[0]);
        fields.put("adding_replicas", partition.addingReplicas);
        fields.put("removing_replicas", partition.removingReplicas);
        fields.put("leader", partition.leader);
        fields.put("leader_epoch", partition.leaderEpoch);
        fields.put("leader_recovery", (int) partition.leaderRecoveryState.value());
        return fields;
    }

    private static java.util.List<Integer> list(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false)
            .map(JsonNode::asInt).collect(Collectors.toList());
    }

    private static int[] array(JsonNode node) {
        return list(node).stream().mapToInt(Integer::intValue).toArray();
    }
}
