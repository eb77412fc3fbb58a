package interop;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.CompactArrayOf;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/** What Kafka's message classes declare: the fields of every version, their defaults, the APIs. */
final class MessageLayouts {
    private static final String TAGGED_FIELDS = "_tagged_fields";

    private MessageLayouts() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("message.layouts", MessageLayouts::layouts);
        operations.put("message.defaults", MessageLayouts::defaults);
        operations.put("message.apis", question -> apis());
        operations.put("message.record_types", question -> recordTypes());
    }

    /** The layout in every version; null for the versions that the class does not have. */
    private static JsonNode layouts(JsonNode question) throws ReflectiveOperationException {
        Class<?> type = Class.forName(question.path("class").asText());
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (Schema schema : (Schema[]) type.getField("SCHEMAS").get(null))
            answer.add(schema == null ? NullNode.instance : layout(schema));
        return answer;
    }

    private static ObjectNode layout(Schema schema) {
        ObjectNode answer = Oracle.JSON.createObjectNode();
        ArrayNode fields = answer.putArray("fields");
        answer.putNull("tags");
        for (BoundField field : schema.fields()) {
            if (field.def.name.equals(TAGGED_FIELDS))
                answer.set("tags", tags((TaggedFields) field.def.type));
            else
                fields.add(field(field.def.name, field.def.type));
        }
        return answer;
    }

    private static ObjectNode tags(TaggedFields tagged) {
        ObjectNode answer = Oracle.JSON.createObjectNode();
        tagged.fields().forEach((tag, field) ->
            answer.set(String.valueOf(tag), field(field.name, field.type)));
        return answer;
    }

    private static ObjectNode field(String name, Type type) {
        ObjectNode answer = Oracle.JSON.createObjectNode().put("name", name);
        boolean isArray = type instanceof ArrayOf || type instanceof CompactArrayOf;
        answer.put("array", isArray ? nameOf(type) : "");
        Type item = isArray ? type.arrayElementType().orElseThrow() : type;
        if (item instanceof Schema schema) {
            answer.put("type", schema.isNullable() ? "NULLABLE_STRUCT" : "STRUCT");
            answer.set("struct", layout(schema));
        } else {
            answer.put("type", nameOf(item)).putNull("struct");
        }
        return answer;
    }

    private static String nameOf(Type type) {
        return ((Type.DocumentedType) type).typeName();
    }

    /** The class and the structs inside it, by name, each with what an untouched object holds. */
    private static JsonNode defaults(JsonNode question) throws ReflectiveOperationException {
        Class<?> root = Class.forName(question.path("class").asText());
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.set(root.getSimpleName(), defaultsOf(root));
        for (Class<?> inner : root.getClasses())
            if (Message.class.isAssignableFrom(inner))
                answer.set(inner.getSimpleName(), defaultsOf(inner));
        return answer;
    }

    private static ObjectNode defaultsOf(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getConstructor();
        Object untouched = constructor.newInstance();
        ObjectNode answer = Oracle.JSON.createObjectNode();
        for (Field field : type.getDeclaredFields()) {
            boolean isOfTheSchema = !Modifier.isStatic(field.getModifiers())
                && !Modifier.isPrivate(field.getModifiers());
            if (isOfTheSchema) {
                field.setAccessible(true);
                answer.set(field.getName(), value(field.get(untouched)));
            }
        }
        return answer;
    }

    /** Every API: key, versions, listeners, and the header that each version travels with. */
    private static JsonNode apis() {
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (ApiMessageType api : ApiMessageType.values()) {
            ObjectNode about = answer.addObject().put("name", api.name).put("key", api.apiKey())
                .put("lowest", api.lowestSupportedVersion())
                .put("highest", api.highestSupportedVersion(true))
                .put("highest_stable", api.highestSupportedVersion(false));
            ArrayNode listeners = about.putArray("listeners");
            api.listeners().forEach(each -> listeners.add(each.name().toLowerCase(Locale.ROOT)));
            ObjectNode headers = about.putObject("headers");
            for (short v = api.lowestSupportedVersion(); v <= api.highestSupportedVersion(true); v++)
                headers.putArray(String.valueOf(v))
                    .add(api.requestHeaderVersion(v)).add(api.responseHeaderVersion(v));
        }
        return answer;
    }

    /** The number in front of a key of a coordinator's topic, by the names of key and value. */
    private static JsonNode recordTypes() {
        ObjectNode answer = Oracle.JSON.createObjectNode();
        for (var type : org.apache.kafka.coordinator.group.generated.CoordinatorRecordType.values())
            put(answer, type.id(), type.newRecordKey(), type.newRecordValue());
        for (var type : org.apache.kafka.coordinator.share.generated.CoordinatorRecordType.values())
            put(answer, type.id(), type.newRecordKey(), type.newRecordValue());
        for (var type
                : org.apache.kafka.coordinator.transaction.generated.CoordinatorRecordType.values())
            put(answer, type.id(), type.newRecordKey(), type.newRecordValue());
        return answer;
    }

    private static void put(ObjectNode answer, short id, Message key, Message value) {
        answer.put(key.getClass().getSimpleName(), id).put(value.getClass().getSimpleName(), id);
    }

    private static JsonNode value(Object value) {
        if (value instanceof Message)
            return Oracle.JSON.createObjectNode();  // its own defaults are listed under its name
        if (value instanceof Collection<?>)
            return Oracle.JSON.createArrayNode();
        if (value == null || value instanceof Number || value instanceof Boolean
                || value instanceof String || value instanceof byte[])
            return Oracle.JSON.valueToTree(value);
        return Oracle.JSON.valueToTree(value.toString());
    }
}
